// The smallest instance that reveals each mutant of paths, with the law of its emitted tokens; and instances on which
// it has the correct law.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/prover/path_registry.hpp>

namespace draftproof {
namespace {

struct SmallestPath {
  std::string mutant, law, instance;
  std::vector<int> first;  ///< weights of the first token emitted
  Rational distance;       ///< of the completed L + 1 tokens to the target
};

struct SeenPath {
  StepLaw<Rational> law;
  std::vector<Rational> first;
  std::optional<Rational> distance{};
};

SeenPath seen_path(std::string_view verifier, std::string_view law, const PathInstance& instance) {
  PathInstanceAnalysis at(*path_registry().verifier(verifier), *path_registry().drafter(law), instance);
  SeenPath seen{.law = at.law(), .first = std::vector<Rational>(static_cast<std::size_t>(instance.vocabulary()))};
  for (const auto& [tokens, probability] : seen.law.emitted)
    seen.first[static_cast<std::size_t>(tokens.front())] += probability;
  seen.distance = BlockLevel::distance(at);
  return seen;
}

class SmallestPaths : public testing::TestWithParam<SmallestPath> {};

TEST_P(SmallestPaths, HaveTheLawWorkedOutByHand) {
  const SmallestPath& wanted = GetParam();
  const SeenPath seen = seen_path(wanted.mutant, wanted.law, PathInstance::parse(wanted.instance));
  EXPECT_EQ(seen.law.mass, 1);
  EXPECT_EQ(seen.first, normalised(wanted.first)) << to_text(seen.first);
  EXPECT_EQ(seen.distance, wanted.distance) << to_text(*seen.distance);
}

const std::string toy_path = "L=2 K=1 [] p=(1 2)/3 q=(2 1)/3";

INSTANTIATE_TEST_SUITE_P(
    Catalogue, SmallestPaths,
    testing::Values(
        SmallestPath{"first_draft_unchecked_path", "iid_paths", "L=1 K=1 [] p=(0 1)/1 q=(1 0)/1", {1, 0}, 1},
        SmallestPath{
            "resample_from_target_path", "iid_paths", "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1", {1, 3}, Rational(1, 4)},
        SmallestPath{"bonus_one_row_early",
                     "iid_paths",
                     "L=1 K=1 [] p=(1 1)/2 q=(1 1)/2 [0] p=(1 0)/1 q=(1 1)/2 [1] p=(1 0)/1 q=(1 1)/2",
                     {1, 1},
                     Rational(1, 2)},
        SmallestPath{"correction_one_row_late",
                     "iid_paths",
                     "L=1 K=1 [] p=(0 1)/1 q=(1 0)/1 [0] p=(1 0)/1 q=(1 1)/2 [1] p=(1 0)/1 q=(1 1)/2",
                     {1, 0},
                     1},
        SmallestPath{"block_clipped_tests", "iid_paths", toy_path, {1, 1}, Rational(1, 6)},
        SmallestPath{"hsd_repository", "iid_paths", toy_path, {1, 2}, Rational(1, 9)},
        SmallestPath{"gbv_unskewed", "iid_paths", "L=1 K=2 [] p=(1 1)/2 q=(1 1)/2", {3, 1}, Rational(1, 4)},
        SmallestPath{"gbv_ties_differ", "iid_paths", "L=1 K=2 [] p=(1 1)/2 q=(1 1)/2", {1, 2}, Rational(1, 6)},
        SmallestPath{
            "traversal_sorted", "without_replacement_tree", "L=1 K=2 [] p=(1 1)/2 q=(1 1)/2", {1, 0}, Rational(1, 2)},
        SmallestPath{
            "one_coin_for_all_positions", "iid_paths", "L=2 K=1 [] p=(1 1)/2 q=(1 0)/1", {1, 1}, Rational(1, 4)}));

TEST(SmallestPaths, AnUncappedProductAcceptsMoreThanAnyLosslessRule) {
  const PathInstance toy = PathInstance::parse(toy_path);
  EXPECT_EQ(seen_path("hsd_repository", "iid_paths", toy).law.mean_accepted(), Rational(12, 9));
  EXPECT_EQ(seen_path("block", "iid_paths", toy).law.mean_accepted(), Rational(11, 9));
}

std::vector<int> path_weights(InstanceRng& dice, int size, int least) {
  std::vector<int> row(static_cast<std::size_t>(size));
  do {
    for (int& weight : row) weight = dice.between(least, 5);
  } while (row == std::vector<int>(row.size(), 0));
  return row;
}

struct HiddenShape {
  int vocabulary, length, drafts;
  bool equal = false, conditionals = true;
  int least = 0;
};

PathInstance hidden_instance(int n, const HiddenShape& shape) {
  InstanceRng dice(815, static_cast<std::uint64_t>(n));
  PathInstance instance;
  instance.shape = {.drafts = shape.drafts, .length = shape.length, .branching = {}, .stem = 0};
  const auto add = [&](const Tokens& prefix) {
    PrefixWeights rows{path_weights(dice, shape.vocabulary, shape.least),
                       path_weights(dice, shape.vocabulary, shape.least)};
    if (shape.equal) rows.proposal = rows.target;
    instance.rows.emplace(prefix, std::move(rows));
  };
  add({});
  if (shape.conditionals)
    for (Token x = 0; x < shape.vocabulary; ++x) add({x});
  return instance;
}

void expect_hidden_paths(const std::vector<std::string>& mutants, const HiddenShape& shape) {
  for (const std::string& name : mutants)
    for (int n = 0; n < 24; ++n) {
      const PathInstance instance = hidden_instance(n, shape);
      const SeenPath seen = seen_path(name, "iid_paths", instance);
      EXPECT_EQ(seen.distance, Rational(0)) << name << " on " << instance.text();
    }
}

bool shows_on_paths(const std::string& mutant, const HiddenShape& shape) {
  for (int n = 0; n < 24; ++n)
    if (seen_path(mutant, "iid_paths", hidden_instance(n, shape)).distance != Rational(0)) return true;
  return false;
}

TEST(HiddenPathMutants, TwoTokens) {
  expect_hidden_paths({"block_token_residual"}, {.vocabulary = 2, .length = 3, .drafts = 1});
  EXPECT_TRUE(shows_on_paths("block_token_residual", {.vocabulary = 3, .length = 2, .drafts = 1}));
}

TEST(HiddenPathMutants, OneDraftedToken) {
  const HiddenShape shape{.vocabulary = 3, .length = 1, .drafts = 1};
  expect_hidden_paths({"block_token_residual", "block_clipped_tests", "hsd_repository", "greedy_block_without_carry",
                       "one_coin_for_all_positions"},
                      shape);
  EXPECT_TRUE(shows_on_paths("bonus_one_row_early", shape));
}

TEST(HiddenPathMutants, OnePath) {
  expect_hidden_paths({"gbv_unskewed", "gbv_ties_differ", "gbv_ties_opposed"},
                      {.vocabulary = 3, .length = 2, .drafts = 1});
}

TEST(HiddenPathMutants, EqualLaws) {
  const HiddenShape shape{.vocabulary = 3, .length = 2, .drafts = 1, .equal = true};
  expect_hidden_paths({"block_token_residual", "block_clipped_tests", "hsd_repository", "greedy_block_without_carry",
                       "first_draft_unchecked_path", "resample_from_target_path"},
                      shape);
  const HiddenShape two{.vocabulary = 2, .length = 1, .drafts = 2, .equal = true};
  EXPECT_TRUE(shows_on_paths("gbv_unskewed", two));
  EXPECT_TRUE(shows_on_paths("gbv_ties_differ", two));
}

TEST(HiddenPathMutants, NoTies) {
  // Instances whose ratios p / q differ at every node.
  int met = 0;
  for (int n = 0; n < 200; ++n) {
    const PathInstance instance = hidden_instance(n, {.vocabulary = 2, .length = 2, .drafts = 2, .least = 1});
    const auto tied = [](const auto& entry) {
      const auto& [p, q] = entry.second;
      return p[0] * q[1] == p[1] * q[0];
    };
    if (std::any_of(instance.rows.begin(), instance.rows.end(), tied)) continue;
    ++met;
    EXPECT_EQ(seen_path("gbv_ties_differ", "iid_paths", instance).law.emitted,
              seen_path("greedy_multipath_block", "iid_paths", instance).law.emitted)
        << instance.text();
    if (met == 24) return;
  }
  FAIL() << "only " << met << " instances without ties";
}

TEST(HiddenPathMutants, EqualRows) {
  const HiddenShape shape{.vocabulary = 3, .length = 2, .drafts = 1, .conditionals = false};
  expect_hidden_paths({"bonus_one_row_early"}, shape);
  // The correction of the last position comes from the target there: seen at L = 1, and nowhere else.
  for (int n = 0; n < 24; ++n) {
    const PathInstance instance = hidden_instance(n, shape);
    EXPECT_EQ(seen_path("correction_one_row_late", "iid_paths", instance).first,
              normalised(instance.after({}).target))
        << instance.text();
  }
  EXPECT_TRUE(
      shows_on_paths("correction_one_row_late", {.vocabulary = 3, .length = 1, .drafts = 1, .conditionals = false}));
}

}  // namespace
}  // namespace draftproof
