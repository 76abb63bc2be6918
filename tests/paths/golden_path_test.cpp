// Every scheme against the reference laws of tests/golden/path.json, which another program computed.
#include <cmath>
#include <iostream>

#include <gtest/gtest.h>

#include <draftproof/properties/paths/path_registry.hpp>
#include <draftproof/tests/paths/golden_path.hpp>

namespace draftproof {
namespace {

/// A scheme of the file as we know it: verifier and tree drafter by name.
struct Ours {
  std::string_view verifier, drafter;
};

const std::map<std::string_view, Ours>& ours() {
  static const std::map<std::string_view, Ours> map{
      {"token", {"token_path", "iid_paths"}},
      {"block", {"block", "iid_paths"}},
      {"nss_walk", {"sample_and_match_walk", "iid_paths"}},
      {"eagle2_delta_on_sampled_tree", {"sample_and_match_walk", "without_replacement_tree"}},
      {"eagle2_delta_fixed_tree", {"sample_and_match_walk", "top_k_tree"}},
      {"delta_on_merged_iid_tree(=nss)", {"sample_and_match_walk", "iid_paths"}},
      {"specinfer_rrs_walk", {"recursive_rejection_walk", "iid_paths"}},
      {"sequoia_topdown_wor", {"recursive_rejection_wor_walk", "without_replacement_tree"}},
      {"topdown_wor_on_merged_iid_tree", {"recursive_rejection_wor_walk", "iid_paths"}},
      {"spectr_kseq_walk", {"k_seq_walk", "iid_paths"}},
      {"control:topdown_wor_tree_with_replacement_q", {"wor_verified_as_iid_walk", "without_replacement_tree"}},
      {"control:topdown_merged_iid_with_unchanged_q", {"wor_verified_as_iid_walk", "iid_paths"}},
      {"control:fixed_top_tree_verified_as_sampled_wor", {"fixed_verified_as_sampled_walk", "top_k_tree"}},
  };
  return map;
}

// Both sides add at most 2^12 products of a dozen factors in double: 2^12 * 12 * 2^-53 = 6e-12 at worst, 1e-15 in
// practice; the file promises 1e-12.
constexpr double tolerance = 1e-10;

TEST(GoldenPaths, EveryCaseOfTheSchemesWeHave) {
  std::map<std::string, int> compared, missing;
  double largest = 0;
  for (const golden::PathCase& c : golden::path_cases()) {
    const auto known = ours().find(c.scheme);
    const AnyPathVerifier* verifier =
        known == ours().end() ? nullptr : path_registry().verifier(known->second.verifier);
    if (!verifier) {
      ++missing[c.scheme];
      continue;
    }
    const AnyTreeDrafter* drafter = path_registry().drafter(known->second.drafter);
    ASSERT_TRUE(drafter) << known->second.drafter;
    const auto contexts = c.model->contexts();
    const auto decider = verifier->explore_on(contexts, c.shape);
    const auto law = explore_passage_law<Rows<double>>(*drafter, *decider, contexts, c.shape);
    ASSERT_TRUE(law.complete) << c.id;
    ASSERT_NEAR(law.mean_accepted(), c.mean_accepted, tolerance) << c.id << ' ' << c.scheme;
    for (std::size_t i = 0; i < c.accepted.size(); ++i)
      ASSERT_NEAR(law.accepted[i], c.accepted[i], tolerance) << c.id << ' ' << c.scheme << " tau = " << i;
    for (const auto& [tokens, probability] : law.emitted) {
      if (c.emitted.empty()) break;  // a process: tests/paths/process_test.cpp
      const auto wanted = c.emitted.find(tokens);
      const double value = wanted == c.emitted.end() ? 0 : wanted->second;
      ASSERT_NEAR(probability, value, tolerance) << c.id << ' ' << c.scheme;
      largest = std::max(largest, std::abs(probability - value));
    }
    for (const auto& [tokens, probability] : c.emitted) ASSERT_TRUE(law.emitted.contains(tokens)) << c.id;
    ++compared[c.scheme];
  }
  std::cout << "largest deviation " << largest << '\n';
  for (const auto& [scheme, cases] : missing) std::cout << "not compared: " << scheme << ", " << cases << '\n';
  EXPECT_EQ(missing, (std::map<std::string, int>{}));
}

}  // namespace
}  // namespace draftproof
