// Temperature, top-k and top-p: the changes that an engine makes to a distribution before it samples. They are
// applied on load, in double, to target and proposal with separate settings.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace draftproof {

/// The defaults change nothing. Order: temperature, top-k, top-p of the result of top-k, normalisation.
struct Filter {
  double temperature = 1;  // >= 0; 0 puts all mass on the most probable token, the lowest index among equals
  std::size_t top_k = 0;   // keeps the k most probable, among equals the lower index; 0 keeps all
  double top_p = 1;        // keeps the shortest descending run of mass >= top_p, among equals the lower index first

  bool changes_nothing() const { return temperature == 1 && top_k == 0 && top_p == 1; }
};

/// Throws: InputError, with the name `who`, unless temperature is finite and >= 0 and 0 < top_p <= 1.
void check_filter(const Filter& filter, const std::string& who);

/// The settings as a JSON object by name.
nlohmann::json to_json(const Filter& filter);

/// The distribution of `logits` [V] (finite or -inf, not all -inf): softmax(logits / temperature), filtered and
/// normalised.
std::vector<double> filtered_softmax(std::span<const double> logits, const Filter& filter);

/// The same for a distribution given as probabilities (finite, >= 0, not all 0). The default filter leaves it
/// unchanged.
std::vector<double> filtered_distribution(std::vector<double> distribution, const Filter& filter);

}  // namespace draftproof
