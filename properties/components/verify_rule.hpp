// The verifiers and the drafter that are used in the checks of selection policies and of grammars.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/properties/proof/property.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>

namespace draftproof {

enum class VerifyRule { token, block, matching };
inline constexpr std::array<VerifyRule, 3> all_verify_rules{VerifyRule::token, VerifyRule::block,
                                                            VerifyRule::matching};

/// Returns the name of the registered path verifier of this rule for chains or trees; "" if there is none.
constexpr std::string_view verifier_of(VerifyRule rule, bool chain) {
  if (rule == VerifyRule::matching) return "sample_and_match_tree";
  if (rule == VerifyRule::token) return chain ? "token_path" : "recursive_rejection_wor_tree";
  return chain ? "block" : "";
}

/// Returns the drafter that draws without replacement, level by level; one draft per node gives a chain.
inline const AnyTreeDrafter& drafter_of_cases() {
  static const AnyTreeDrafter& found = *path_registry().drafter("without_replacement_tree");
  return found;
}

/// Tests the rules for which `applies(rule)`; fails if any has a wrong output. `fault(rule, first)` returns a text on
/// the wrong output of a rule, or nullopt; only the text with `first` = true is shown. The evidence is this text, then
/// `right_with` and the names of the verifiers with right output.
template <class Applies, class Fault>
Answer answer_of_rules(bool chain, std::string_view right_with, const Applies& applies, const Fault& fault) {
  std::string evidence;
  std::vector<std::string_view> right;
  for (const VerifyRule rule : all_verify_rules) {
    if (!applies(rule)) continue;
    const std::string_view verifier = verifier_of(rule, chain);
    const std::optional<std::string> wrong = fault(rule, evidence.empty());
    if (!wrong)
      right.push_back(verifier);
    else if (evidence.empty())
      evidence = fmt::format("{}: {}", verifier, *wrong);
  }
  if (evidence.empty()) return Answer::passed();
  return Answer::failed(right.empty()
                            ? evidence
                            : fmt::format("{}; on this model {} {}", evidence, right_with, fmt::join(right, ", ")));
}

}  // namespace draftproof
