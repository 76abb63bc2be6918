// Figures of verdicts and of evidence.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include <draftproof/cli/report/page/data.hpp>
#include <draftproof/cli/report/registration.hpp>

namespace draftproof::figures {

using namespace page;

// Subjects against checks as a matrix of signs: the kill matrix of mutants, and the checks of gates.
struct CheckMatrix {
  static void add(const Json& data, std::vector<Figure>& figures) {
    for (const auto& [level, rows] : by_part(member(data, "mutants"), "level"))
      matrix(fmt::format("Kill matrix, {}: mutants against checks", level), rows, "mutant", "checks",
             "A cross: the check refutes the mutant. Each row should have one.", figures);
    for (const auto& [tier, rows] : by_part(member(data, "gates"), "tier"))
      matrix(fmt::format("Gates, tier {}: verifiers against checks", tier), rows, "verifier", "findings",
             "A cross: the check failed.", figures);
  }

 private:
  using Rows = std::vector<const Json*>;

  static std::vector<std::pair<std::string, Rows>> by_part(const Json& list, const char* key) {
    std::vector<std::pair<std::string, Rows>> parts;
    for (const Json* row : objects_in(list)) {
      std::string part = text_of(*row, key);
      if (member(*row, "lossy_by_design") == true) part += ", lossy by design";
      auto at = std::find_if(parts.begin(), parts.end(), [&](const auto& known) { return known.first == part; });
      if (at == parts.end()) at = parts.insert(parts.end(), {part, {}});
      at->second.push_back(row);
    }
    return parts;
  }

  static plots::Mark mark_of(const std::string& status) {
    return status == "failed" ? plots::Mark::hit : status == "passed" ? plots::Mark::kept : plots::Mark::skipped;
  }

  static void matrix(std::string title, const Rows& rows, const char* name, const char* checks, std::string caption,
                     std::vector<Figure>& figures) {
    plots::HeatMap map{.title = std::move(title),
                       .rows = {},
                       .columns = {},
                       .cells = {},
                       .kept = "passed",
                       .hit = "failed",
                       .skipped = "not decided"};
    std::map<std::string, int> hits;
    for (const Json* row : rows)
      for (const Json* check : objects_in(member(*row, checks))) {
        const std::string column = text_of(*check, "check");
        const auto [at, fresh] = hits.try_emplace(column, 0);
        if (fresh) map.columns.push_back(column);
        at->second += text_of(*check, "status") == "failed";
      }
    if (map.columns.empty()) return;
    std::stable_sort(map.columns.begin(), map.columns.end(),
                     [&](const auto& a, const auto& b) { return hits[a] > hits[b]; });
    for (const Json* row : rows) {
      map.rows.push_back(text_of(*row, name));
      std::vector<plots::Mark> cells(map.columns.size(), plots::Mark::absent);
      for (const Json* check : objects_in(member(*row, checks))) {
        const auto at = std::find(map.columns.begin(), map.columns.end(), text_of(*check, "check"));
        cells[static_cast<std::size_t>(at - map.columns.begin())] = mark_of(text_of(*check, "status"));
      }
      map.cells.push_back(std::move(cells));
    }
    figures.push_back({std::move(caption), drawn(map), true});
  }
};

// E-values of an audit on a logarithmic scale, with the threshold of an alarm as a line.
struct Evidence {
  static void add(const Json& data, std::vector<Figure>& figures) {
    const auto threshold = number_of(data, "log10_threshold");
    plots::BarPlot plot{.title = "Evidence against the recording",
                        .x_label = "e-value, logarithmic; 1 is no evidence",
                        .bars = {},
                        .tick = plots::power_tick};
    const auto bar = [&plot](const std::string& label, std::optional<double> value) {
      if (value)
        plot.bars.push_back(
            {.label = label, .value = *value, .text = fmt::format("10^{:.1f}", std::round(10 * *value) / 10 + 0.0)});
    };
    for (const Json* family : objects_in(member(data, "families")))
      bar(text_of(*family, "bets"), number_of(*family, "log10_e"));
    if (plot.bars.empty() || !threshold) return;
    bar("all bets together", number_of(data, "log10_e"));
    bar("largest so far", number_of(data, "largest_log10_e"));
    plot.alarm = {*threshold, fmt::format("alarm from 10^{:.1f}", *threshold)};
    figures.push_back(
        {"One bar for each family of bets. The line is the alarm threshold, one over the false-alarm probability of "
         "the audit.",
         drawn(plot)});
  }
};

}  // namespace draftproof::figures
