#include <draftproof/adapters/program.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <draftproof/captures/filter.hpp>

namespace draftproof::adapters {

std::vector<double> RequestSettings::applied(std::vector<double> row) const {
  row = filtered_distribution(std::move(row),
                              {.temperature = temperature, .top_k = static_cast<std::size_t>(top_k), .top_p = top_p});
  const double least = min_p * *std::max_element(row.begin(), row.end());
  double mass = 0;
  for (double& share : row) mass += share = share < least ? 0 : share;
  for (double& share : row) share /= mass;
  return row;
}

std::string RequestSettings::text() const {
  std::string text;
  const auto add = [&text](const char* name, double value, double neutral) {
    if (value != neutral) text += fmt::format("{}{} {:g}", text.empty() ? "" : ", ", name, value);
  };
  add("temperature", temperature, 1);
  add("top_k", top_k, 0);
  add("top_p", top_p, 1);
  add("min_p", min_p, 0);
  return text;
}

}  // namespace draftproof::adapters
