// The verifiers that checks of selection policies and grammars run on drafts, and the drafter of their cases.
#pragma once

#include <array>
#include <string_view>

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

/// Draws without replacement, level by level; one draft per node is a chain.
inline const AnyTreeDrafter& drafter_of_cases() {
  static const AnyTreeDrafter& found = *path_registry().drafter("without_replacement_tree");
  return found;
}

}  // namespace draftproof
