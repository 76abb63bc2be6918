// Compares every scheme with the reference distributions of tests/golden/path.json, from another program.
#include <cmath>
#include <iostream>

#include <gtest/gtest.h>

#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/sim/trees/node_by_node.hpp>
#include <draftproof/tests/support/audited.hpp>
#include <draftproof/tests/support/golden_path.hpp>
#include <draftproof/verifiers/lossy/lenience.hpp>
#include <draftproof/verifiers/lossy/paths/typical_acceptance_path.hpp>
#include <draftproof/verifiers/mutants/draft_distribution.hpp>

namespace draftproof {
namespace {

/// The verifier and tree drafter of this repository for a scheme of the file.
struct Ours {
  std::string_view verifier, drafter;
  bool reversed = false;  ///< ties of p / q: the file prefers the higher id
};

const std::map<std::string_view, Ours>& ours() {
  static const std::map<std::string_view, Ours> map{
      {"token", {"token_path", "iid_paths"}},
      {"block", {"block", "iid_paths"}},
      {"hsd_definitions_argmax_cap(=block)", {"block", "iid_paths"}},
      {"greedy_block_carry", {"greedy_block", "iid_paths"}},
      {"nss_walk", {"sample_and_match_tree", "iid_paths"}},
      {"eagle2_delta_on_sampled_tree", {"sample_and_match_tree", "without_replacement_tree"}},
      {"eagle2_delta_fixed_tree", {"sample_and_match_tree", "top_k_tree"}},
      {"delta_on_merged_iid_tree(=nss)", {"sample_and_match_tree", "iid_paths"}},
      {"specinfer_rrs_walk", {"recursive_rejection_tree", "iid_paths"}},
      {"sequoia_topdown_wor", {"recursive_rejection_wor_tree", "without_replacement_tree"}},
      {"topdown_wor_on_merged_iid_tree", {"recursive_rejection_wor_tree", "iid_paths"}},
      {"spectr_kseq_walk", {"k_seq_tree", "iid_paths"}},
      {"traversal_wor", {"traversal", "without_replacement_tree"}},
      {"traversal_iid_merged", {"traversal", "iid_paths"}},
      {"gbv", {"greedy_multipath_block", "iid_paths", true}},
      {"control:topdown_wor_tree_with_replacement_q", {"wor_verified_as_iid_tree", "without_replacement_tree"}},
      {"control:topdown_merged_iid_with_unchanged_q", {"wor_verified_as_iid_tree", "iid_paths"}},
      {"control:fixed_top_tree_verified_as_sampled_wor", {"fixed_verified_as_sampled_tree", "top_k_tree"}},
      {"control:hsd_repo_uncapped_final", {"hsd_repository", "iid_paths"}},
      {"control:hsd_last_index_cap", {"hsd_last_index", "iid_paths"}},
      {"control:block_with_p_i_instead_of_h_i", {"block_clipped_tests", "iid_paths"}},
      {"control:block_with_token_residual", {"block_token_residual", "iid_paths"}},
      {"control:greedy_block_without_carry", {"greedy_block_without_carry", "iid_paths"}},
      {"control:token_resample_from_p", {"resample_from_target_path", "iid_paths"}},
      {"control:token_bonus_from_draft", {"bonus_from_draft", "iid_paths"}},
      {"control:token_lenience_0.8", {"lenience_tree", "iid_paths"}},
      {"control:typical_acceptance_0.4", {"typical_acceptance_path", "iid_paths"}},
      {"control:gbv_path_choice_but_unskewed_q", {"gbv_unskewed", "iid_paths", true}},
      {"control:gbv_inconsistent_tie_break", {"gbv_ties_opposed", "iid_paths", true}},
      {"control:traversal_iid_children_sorted_by_token_id", {"traversal_sorted", "iid_paths"}},
      {"control:traversal_siblings_sorted_by_token_id", {"traversal_sorted", "without_replacement_tree"}},
      {"control:topdown_wor_siblings_sorted", {"siblings_sorted_by_id", "without_replacement_tree"}},
      {"control:topdown_wor_siblings_sorted_by_ratio", {"siblings_sorted_by_ratio", "without_replacement_tree"}},
  };
  return map;
}

/// Returns the verifier `name`, with the parameters that the name of the case states.
const AnyPathVerifier* verifier_of(std::string_view scheme, std::string_view name) {
  static const auto lenient = [] {
    LiftedToTrees<verifiers::lossy::Lenience> enumerate;
    enumerate.verifier.lenience = 0.8;
    return PathVerifierOf<LiftedToTrees<verifiers::lossy::Lenience>>(Kind::mutant, enumerate);
  }();
  static const auto typical = [] {
    // At V = 2 and delta = 2, delta exp(-H) is at least 1, so the threshold is epsilon.
    const verifiers::lossy::paths::TypicalAcceptancePath path{{.epsilon = 0.4, .delta = 2}};
    return PathVerifierOf<verifiers::lossy::paths::TypicalAcceptancePath>(Kind::mutant, path);
  }();
  // Mutants of one position, applied to trees, can be enumerated in double only if they are marked as Audited.
  static const PathVerifierOf<LiftedToTrees<Audited<mutants::WorVerifiedAsIid>>> as_iid(Kind::mutant);
  static const PathVerifierOf<LiftedToTrees<Audited<mutants::FixedVerifiedAsSampled>>> as_sampled(Kind::mutant);
  if (name == as_iid.info().name) return &as_iid;
  if (name == as_sampled.info().name) return &as_sampled;
  if (scheme == "control:token_lenience_0.8") return &lenient;
  if (scheme == "control:typical_acceptance_0.4") return &typical;
  return path_registry().verifier(name);
}

std::map<Tokens, double> reversed_back(const std::map<Tokens, double>& emitted, int vocabulary) {
  std::map<Tokens, double> back;
  for (const auto& [tokens, probability] : emitted) {
    Tokens renamed;
    for (const Token x : tokens) renamed.push_back(vocabulary - 1 - x);
    back[renamed] = probability;
  }
  return back;
}

// Both sides add at most 2^12 products of a dozen factors in double: 2^12 * 12 * 2^-53 = 6e-12 at worst, 1e-15 in
// practice; the file states 1e-12.
constexpr double reference_distribution_tolerance = 1e-10;

TEST(GoldenPaths, EveryCaseOfTheSchemesWeHave) {
  std::map<std::string, int> compared, missing;
  double largest = 0;
  for (const golden::PathCase& c : golden::path_cases()) {
    const auto known = ours().find(c.scheme);
    const AnyPathVerifier* verifier = known == ours().end() ? nullptr : verifier_of(c.scheme, known->second.verifier);
    if (!verifier) {
      ++missing[c.scheme];
      continue;
    }
    const AnyTreeDrafter* drafter = path_registry().drafter(known->second.drafter);
    ASSERT_TRUE(drafter) << known->second.drafter;
    const bool reversed = known->second.reversed;
    const auto conditionals = reversed ? c.model->reversed().conditionals() : c.model->conditionals();
    const auto decider = verifier->explore_on(conditionals, c.shape);
    auto distribution = explore_step_distribution<Rows<double>>(*drafter, *decider, conditionals, c.shape);
    if (reversed) distribution.emitted = reversed_back(distribution.emitted, c.model->vocabulary);
    ASSERT_TRUE(distribution.complete) << c.id;
    ASSERT_NEAR(distribution.mean_accepted(), c.mean_accepted, reference_distribution_tolerance)
        << c.id << ' ' << c.scheme;
    for (std::size_t i = 0; i < c.accepted.size(); ++i)
      ASSERT_NEAR(distribution.accepted[i], c.accepted[i], reference_distribution_tolerance)
          << c.id << ' ' << c.scheme << " tau = " << i;
    for (const auto& [tokens, probability] : distribution.emitted) {
      if (c.emitted.empty()) break;  // process_test.cpp compares schemes with state
      const auto wanted = c.emitted.find(tokens);
      const double value = wanted == c.emitted.end() ? 0 : wanted->second;
      ASSERT_NEAR(probability, value, reference_distribution_tolerance) << c.id << ' ' << c.scheme;
      largest = std::max(largest, std::abs(probability - value));
    }
    for (const auto& [tokens, probability] : c.emitted) ASSERT_TRUE(distribution.emitted.contains(tokens)) << c.id;
    ++compared[c.scheme];
  }
  std::cout << "largest deviation " << largest << '\n';
  for (const auto& [scheme, cases] : missing) std::cout << "not compared: " << scheme << ", " << cases << '\n';
  EXPECT_EQ(missing, (std::map<std::string, int>{}));
}

}  // namespace
}  // namespace draftproof
