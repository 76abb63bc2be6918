// Subjects against checks as a matrix of signs: the kill matrix of mutants, and the checks of gates.
#pragma once

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <draftproof/report/plots/heat_map.hpp>
#include <draftproof/report/register_figure.hpp>

namespace draftproof::figures {

struct CheckMatrix {
  static void add(const page::Json& data, std::vector<page::Figure>& figures) {
    for (const auto& [level, rows] : by_part(page::member(data, "mutants"), "level"))
      matrix(fmt::format("Kill matrix, {}: mutants against checks", level), rows, "mutant", "checks",
             "A cross: the check refutes the mutant. Each row should have one.", figures);
    for (const auto& [tier, rows] : by_part(page::member(data, "gates"), "tier"))
      matrix(fmt::format("Gates, tier {}: verifiers against checks", tier), rows, "verifier", "findings",
             "A cross: the check is violated.", figures);
  }

 private:
  using Rows = std::vector<const page::Json*>;

  static std::vector<std::pair<std::string, Rows>> by_part(const page::Json& list, const char* key) {
    std::vector<std::pair<std::string, Rows>> parts;
    for (const page::Json* row : page::objects_in(list)) {
      std::string part = page::text_of(*row, key);
      if (page::member(*row, "lossy_by_design") == true) part += ", lossy by design";
      auto at = std::find_if(parts.begin(), parts.end(), [&](const auto& known) { return known.first == part; });
      if (at == parts.end()) at = parts.insert(parts.end(), {part, {}});
      at->second.push_back(row);
    }
    return parts;
  }

  static plots::Mark mark_of(const std::string& status) {
    return status == "violated" ? plots::Mark::hit : status == "held" ? plots::Mark::kept : plots::Mark::skipped;
  }

  static void matrix(std::string title, const Rows& rows, const char* name, const char* checks, std::string caption,
                     std::vector<page::Figure>& figures) {
    plots::HeatMap map{.title = std::move(title),
                       .rows = {},
                       .columns = {},
                       .cells = {},
                       .kept = "held",
                       .hit = "violated",
                       .skipped = "not decided"};
    std::map<std::string, int> hits;
    for (const page::Json* row : rows)
      for (const page::Json* check : page::objects_in(page::member(*row, checks))) {
        const std::string column = page::text_of(*check, "check");
        const auto [at, fresh] = hits.try_emplace(column, 0);
        if (fresh) map.columns.push_back(column);
        at->second += page::text_of(*check, "status") == "violated";
      }
    if (map.columns.empty()) return;
    std::stable_sort(map.columns.begin(), map.columns.end(),
                     [&](const auto& a, const auto& b) { return hits[a] > hits[b]; });
    for (const page::Json* row : rows) {
      map.rows.push_back(page::text_of(*row, name));
      std::vector<plots::Mark> cells(map.columns.size(), plots::Mark::absent);
      for (const page::Json* check : page::objects_in(page::member(*row, checks))) {
        const auto at = std::find(map.columns.begin(), map.columns.end(), page::text_of(*check, "check"));
        cells[static_cast<std::size_t>(at - map.columns.begin())] = mark_of(page::text_of(*check, "status"));
      }
      map.cells.push_back(std::move(cells));
    }
    figures.push_back({std::move(caption), drawn(map), true});
  }
};

}  // namespace draftproof::figures
