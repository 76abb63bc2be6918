// Checks the selection policy of an external program with the two checks of compiled policies (docs/selection.md), on
// the same cases. Each choice is a call of the program; the choice for a view that occurs again is reused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/adapters/wire/served.hpp>
#include <draftproof/properties/proof/finding.hpp>

namespace draftproof::adapters {

/// Whether `text` is a case of the program's selection policy rather than a model of its verifier.
bool is_selection_case(const Declaration& declaration, std::string_view text);

struct SelectionCheckOptions {
  std::uint64_t seed = 1;
  int cases = 0;                     ///< largest number of cases of a check; 0: a whole round
  std::vector<std::string> first{};  ///< cases tried, and reported, before all others
  std::string adapter{};             ///< text of --adapter, for replay lines
};

/// Returns one finding for each check. Requires a program that selects. Throws: AdapterError.
/// Cost: about 80 calls per case of two requests.
std::vector<Finding> check_selection(Served& program, const SelectionCheckOptions& options);

/// Runs all checks, or `property` alone, on a case as a failure printed it, and returns their findings.
/// Throws: InputError for a text that is not a case or a name that is not a check; AdapterError.
std::vector<Finding> check_selection_on(Served& program, std::string_view property, const std::string& instance,
                                        const SelectionCheckOptions& options);

}  // namespace draftproof::adapters
