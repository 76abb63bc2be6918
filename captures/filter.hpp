// Temperature, top-k and top-p, the changes an engine makes to a law before it samples. Applied on load, to
// target and proposal each with its own settings, in double.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace draftproof {

/// The defaults change nothing. Order: temperature, then top-k, then top-p of what top-k left, then
/// normalisation.
struct Filter {
  double temperature = 1;  // >= 0; 0 puts all mass on the likeliest token, the lowest index of equals
  std::size_t top_k = 0;   // keep the k likeliest, of equals the lower index; 0 keeps all
  double top_p = 1;        // keep the shortest descending run of mass >= top_p, of equals the lower index first

  bool changes_nothing() const { return temperature == 1 && top_k == 0 && top_p == 1; }
};

/// Throws InputError naming `who` unless temperature is finite and >= 0 and 0 < top_p <= 1.
void check_filter(const Filter& filter, const std::string& who);

/// The settings by name.
nlohmann::json to_json(const Filter& filter);

/// The law of `logits` [V] (finite or -inf, not all -inf): softmax(logits / temperature), cut and normalised.
std::vector<double> filtered_softmax(std::span<const double> logits, const Filter& filter);

/// The same for a law given as probabilities (finite, >= 0, not all 0). Unchanged by the default filter.
std::vector<double> filtered_law(std::vector<double> law, const Filter& filter);

}  // namespace draftproof
