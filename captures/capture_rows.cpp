#include <draftproof/captures/capture_rows.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/sim/numeric/neumaier_sum.hpp>

namespace draftproof {
namespace {

std::string number_text(double number) { return std::isnan(number) ? "NaN" : fmt::format("{:.9g}", number); }

/// Throws InputError unless every entry is at most `largest` and not NaN, and not all are -inf.
void check_logarithms(std::span<const double> stored, double largest, std::string_view wanted,
                      const RowPlace& place) {
  bool possible = false;
  for (std::size_t token = 0; token < stored.size(); ++token) {
    possible = possible || std::isfinite(stored[token]);
    if (stored[token] <= largest && stored[token] < HUGE_VAL) continue;
    throw InputError({.file = place.file,
                      .array = place.array,
                      .row = place.row,
                      .token = token,
                      .found = number_text(stored[token]),
                      .wanted = std::string(wanted)});
  }
  if (!possible)
    throw InputError({.file = place.file,
                      .array = place.array,
                      .row = place.row,
                      .found = "-inf for every token",
                      .wanted = "a token that can occur"});
}

void check_log_probability_sum(std::span<const double> stored, const RowPlace& place) {
  std::vector<double> probabilities(stored.size());
  std::transform(stored.begin(), stored.end(), probabilities.begin(), [](double l) { return std::exp(l); });
  const double sum = compensated_sum(probabilities);
  if (std::abs(sum - 1) <= log_probability_sum_tolerance) return;
  throw InputError({.file = place.file,
                    .array = place.array,
                    .row = place.row,
                    .found = fmt::format("log-probabilities whose exponentials sum to {:.9g}", sum),
                    .wanted = fmt::format("a sum within {:g} of 1 (or metadata \"values\": \"logit\")",
                                          log_probability_sum_tolerance)});
}

}  // namespace

std::vector<double> full_law(std::span<const double> stored, Values values, const Filter& filter,
                             const RowPlace& place) {
  switch (values) {
    case Values::Probability:
      return filtered_law(check_row(stored, place), filter);
    case Values::LogProbability:
      check_logarithms(stored, log_probability_sum_tolerance, "a log-probability <= 0 or -inf", place);
      check_log_probability_sum(stored, place);
      break;
    case Values::Logit:
      check_logarithms(stored, HUGE_VAL, "a finite logit or -inf", place);
      break;
  }
  return filtered_softmax(stored, filter);
}

std::vector<double> truncated_law(std::span<const double> stored, const std::vector<bool>& padding, double rest,
                                  const Filter& filter, const RowPlace& place) {
  if (!filter.changes_nothing())
    throw InputError(
        {.file = place.file,
         .array = place.array,
         .found = fmt::format("temperature {}, top-k {}, top-p {} for a truncated capture", filter.temperature,
                              filter.top_k, filter.top_p),
         .wanted = "no filter: the tokens inside the rest are unknown, and so is their share after one"});
  for (std::size_t column = 0; column < stored.size(); ++column)
    if (padding[column] && stored[column] != 0)
      throw InputError({.file = place.file,
                        .array = place.array,
                        .row = place.row,
                        .token = column,
                        .found = number_text(stored[column]) + " at padding (id -1)",
                        .wanted = "0"});
  if (!(rest >= 0 && rest <= 1 + probability_sum_tolerance))
    throw InputError({.file = place.file,
                      .array = "rest_" + place.array,
                      .row = place.row,
                      .found = number_text(rest),
                      .wanted = "a probability"});
  std::vector<double> row(stored.begin(), stored.end());
  row.push_back(rest);
  return check_row(row, place);
}

}  // namespace draftproof
