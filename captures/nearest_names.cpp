#include <draftproof/captures/nearest_names.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace draftproof {
namespace {

/// Returns the Levenshtein distance.
std::size_t edits(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> nearest_names(const std::vector<std::string>& known, std::string_view name) {
  constexpr std::size_t shortest = 3, longest = 60, most = 3;
  if (name.size() < shortest || name.size() > longest) return {};
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const std::string& each : known) {
    const std::size_t away = edits(name, each);
    if (away <= name.size() / 3 || each.find(name) != std::string::npos) found.emplace_back(away, each);
  }
  std::sort(found.begin(), found.end());
  found.resize(std::min(most, found.size()));
  std::vector<std::string> names;
  for (auto& [away, each] : found) names.push_back(std::move(each));
  return names;
}

std::string did_you_mean(const std::vector<std::string>& known, std::string_view name) {
  const std::vector<std::string> meant = nearest_names(known, name);
  return meant.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(meant, " or "));
}

}  // namespace draftproof
