// Temperature, top-k, top-p and min-p: the changes that an engine makes to a distribution before it samples. They are
// applied in double, to captures on load, with separate settings for target and proposal.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace draftproof {

/// The defaults change nothing. Order: temperature, top-k, top-p of the result of top-k, min-p, normalisation.
struct Filter {
  double temperature = 1;  // >= 0; 0 puts all mass on the most probable token, the lowest index among equals
  std::size_t top_k = 0;   // keeps the k most probable, among equals the lower index; 0 keeps all
  double top_p = 1;        // keeps the shortest descending run of mass >= top_p, among equals the lower index first
  double min_p = 0;        // keeps tokens of at least this share of the largest probability

  bool changes_nothing() const { return *this == Filter{}; }
  bool operator==(const Filter&) const = default;
};

/// Throws: InputError, with the name `who`, unless temperature is finite and >= 0, 0 < top_p <= 1 and 0 <= min_p <= 1.
void check_filter(const Filter& filter, const std::string& who);

/// Returns the settings as a JSON object by name; min_p is included only if it is not 0.
nlohmann::json to_json(const Filter& filter);
/// Returns the settings that differ from the default as text, such as "temperature 0.5, top_k 2".
std::string to_text(const Filter& filter);

/// Returns the distribution of `logits` [V] (finite or -inf, not all -inf): softmax(logits / temperature), filtered and
/// normalised.
std::vector<double> filtered_softmax(std::span<const double> logits, const Filter& filter);

/// Returns a distribution that is given as probabilities (finite, >= 0, not all 0) after temperature, filters and
/// normalisation. The default filter leaves it unchanged.
std::vector<double> filtered_distribution(std::vector<double> distribution, const Filter& filter);

}  // namespace draftproof
