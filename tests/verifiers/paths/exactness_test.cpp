// The schemes of paths are exact in fractions on random models with zeros and ties, and their mutants are not.
#include <gtest/gtest.h>

#include <draftproof/tests/support/small_models.hpp>

namespace draftproof {
namespace {

struct ModelSize {
  int vocabulary;
  TreeShape shape;
};

/// Sizes at which every tree can be enumerated, including V >= 3, L >= 2 and K >= 2.
std::vector<ModelSize> sizes_of(std::string_view trees) {
  if (trees == "without_replacement_tree")
    return {{3, {.length = 1, .branching = {3}}},    {2, {.length = 2, .branching = {2, 2}}},
            {3, {.length = 2, .branching = {2, 2}}}, {3, {.length = 2, .branching = {3, 1}}},
            {4, {.length = 2, .branching = {2, 1}}}, {2, {.length = 3, .branching = {2, 1, 2}}}};
  if (trees == "delayed_paths")
    return {{2, {.drafts = 2, .length = 3, .stem = 1}}, {3, {.drafts = 2, .length = 2, .stem = 1}}};
  return {{3, {.drafts = 1, .length = 3}}, {2, {.drafts = 1, .length = 4}}, {2, {.drafts = 2, .length = 2}},
          {2, {.drafts = 3, .length = 2}}, {3, {.drafts = 2, .length = 2}}, {2, {.drafts = 2, .length = 3}}};
}

/// The number of models on which `scheme` is exact, and the number of models.
std::pair<int, int> exact_models(std::string_view scheme, std::string_view trees, int seeds) {
  int right = 0, all = 0;
  for (const auto& [vocabulary, shape] : sizes_of(trees)) {
    if (!small::verifier(scheme).takes(shape.drafts)) continue;
    for (int seed = 0; seed < seeds; ++seed, ++all) {
      const auto model = small::random_model(100 * seed + vocabulary, vocabulary, shape.length);
      right += small::exact(small::law(scheme, trees, model, shape), model);
    }
  }
  return {right, all};
}

struct Scheme {
  std::string_view name, trees;
};

class ExactPaths : public testing::TestWithParam<Scheme> {};
class WrongPaths : public testing::TestWithParam<Scheme> {};

TEST_P(ExactPaths, OnEveryModel) {
  const auto [right, all] = exact_models(GetParam().name, GetParam().trees, 4);
  EXPECT_GT(all, 0);
  EXPECT_EQ(right, all);
}

TEST_P(WrongPaths, OnSomeModel) {
  const auto [right, all] = exact_models(GetParam().name, GetParam().trees, 8);
  EXPECT_LT(right, all);
}

std::string name_of(const testing::TestParamInfo<Scheme>& info) {
  return std::string(info.param.name) + "_on_" + std::string(info.param.trees);
}

INSTANTIATE_TEST_SUITE_P(
    Schemes, ExactPaths,
    testing::Values(Scheme{"token_path", "iid_paths"}, Scheme{"block", "iid_paths"}, Scheme{"traversal", "iid_paths"},
                    Scheme{"traversal", "delayed_paths"}, Scheme{"traversal", "without_replacement_tree"},
                    Scheme{"greedy_multipath_block", "iid_paths"}, Scheme{"greedy_multipath_block", "delayed_paths"},
                    Scheme{"branch_reentry", "iid_paths"}, Scheme{"branch_reentry", "delayed_paths"},
                    Scheme{"layerwise_rejection", "iid_paths"}, Scheme{"layerwise_rejection", "delayed_paths"},
                    Scheme{"optimal_transport_tree", "iid_paths"}, Scheme{"optimal_transport_tree", "delayed_paths"},
                    Scheme{"canonical_two_step_tree", "iid_paths"}, Scheme{"ladder_tree", "iid_paths"},
                    Scheme{"ladder_tree", "delayed_paths"}, Scheme{"recursive_rejection_tree", "iid_paths"},
                    Scheme{"k_seq_tree", "iid_paths"},
                    Scheme{"recursive_rejection_wor_tree", "without_replacement_tree"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Mutants, WrongPaths,
    testing::Values(Scheme{"hsd_repository", "iid_paths"}, Scheme{"hsd_last_index", "iid_paths"},
                    Scheme{"block_clipped_tests", "iid_paths"}, Scheme{"block_token_residual", "iid_paths"},
                    Scheme{"greedy_block_without_carry", "iid_paths"}, Scheme{"bonus_from_draft", "iid_paths"},
                    Scheme{"bonus_one_row_early", "iid_paths"}, Scheme{"correction_one_row_late", "iid_paths"},
                    Scheme{"one_coin_for_all_positions", "iid_paths"},
                    Scheme{"resample_from_target_path", "iid_paths"}, Scheme{"typical_acceptance_path", "iid_paths"},
                    Scheme{"gbv_unskewed", "iid_paths"}, Scheme{"gbv_ties_differ", "iid_paths"},
                    Scheme{"gbv_ties_opposed", "iid_paths"}, Scheme{"traversal_sorted", "iid_paths"},
                    Scheme{"traversal_sorted", "without_replacement_tree"},
                    Scheme{"siblings_sorted_by_id", "without_replacement_tree"},
                    Scheme{"siblings_sorted_by_ratio", "without_replacement_tree"}),
    name_of);

}  // namespace
}  // namespace draftproof
