// Tests of ladder_block and ladder_block_wor: reference values, equality with known schemes in special cases, and
// caches between steps.
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/sim/drafters/trees/paths.hpp>
#include <draftproof/sim/drafters/trees/trees.hpp>
#include <draftproof/sim/trees/node_by_node.hpp>
#include <draftproof/tests/support/chosen_distribution.hpp>
#include <draftproof/tests/support/golden_path.hpp>
#include <draftproof/tests/support/weighted_models.hpp>
#include <draftproof/verifiers/ladder.hpp>
#include <draftproof/verifiers/ladder_wor.hpp>
#include <draftproof/verifiers/paths/ladder_block.hpp>
#include <draftproof/verifiers/paths/ladder_block_wor.hpp>

namespace draftproof {
namespace {

using verifiers::paths::LadderBlock;
using Exact = Rows<Rational>;

TreeShape shape_of(int paths, int length) { return {.drafts = paths, .length = length, .branching = {}, .stem = 0}; }

template <class V, class D = tree_drafters::IidPaths, class L>
StepDistribution<typename L::Scalar> distribution_of(const ConditionalModel<L>& conditionals,
                                                     const TreeShape& shape) {
  PathDeciderOf<V, L, Explorer<typename L::Scalar>> decider(V{}, conditionals, shape);
  return explore_step_distribution<L>(TreeDrafterOf<D>(), decider, conditionals, shape);
}

struct LadderSize {
  int vocabulary, length, paths;
};
constexpr LadderSize ladder_sizes[] = {{2, 1, 3}, {2, 2, 1}, {2, 2, 2}, {2, 2, 3}, {3, 2, 2}, {2, 3, 2}, {3, 2, 3}};

TEST(LadderBlock, ChosenDistributionAndMeansAreTheReferenceOnes) {
  std::ifstream file(DRAFTPROOF_SOURCE_DIR "/tests/golden/ladder.json");
  const auto cases = nlohmann::json::parse(file).at("paths");
  ASSERT_EQ(cases.size(), 96u);
  double largest = 0;
  int above = 0, below = 0;
  for (const auto& entry : cases) {
    const golden::PathModel& model = golden::path_models().at(entry.at("model"));
    const auto conditionals = model.conditionals();
    const int paths = entry.at("K");
    const std::string name = entry.at("model").get<std::string>() + ", K = " + std::to_string(paths);
    std::map<Tokens, double> wanted;
    for (const auto& [text, probability] : entry.at("selected_path_distribution").items())
      wanted[golden::tokens_of(text)] = probability;
    // Both programs add products of a dozen factors in double; the file states a tolerance of 1e-12.
    visit_choices(conditionals, paths, model.length, [&](const Tokens& tokens, const auto* node, double chosen) {
      if (node) return;
      EXPECT_NEAR(chosen, wanted[tokens], 1e-12) << name;
      largest = std::max(largest, std::abs(chosen - wanted[tokens]));
      wanted.erase(tokens);
    });
    for (const auto& [tokens, probability] : wanted) EXPECT_NEAR(probability, 0, 1e-12) << name;
    const double mean = planned_mean_accepted(conditionals, paths, model.length);
    EXPECT_NEAR(mean, entry.at("E_tau"), 1e-12) << name;
    const double greedy = entry.at("E_tau_gbv");
    above += mean > greedy + 1e-9;
    below += mean < greedy - 1e-9;
  }
  std::cout << "largest deviation " << largest << "; against greedy multi-path: " << above << " above, " << below
            << " below\n";
  EXPECT_EQ(below, 0);  // `below` is 0 on these models by observation, not by a proof
  EXPECT_GT(above, 40);
}

// The mean number of accepted tokens follows from the plans alone: it is the mean of block verification whose proposal
// is the distribution of the chosen path. The prover checks that the step is exact and bounded, and that with one path
// it is block verification.
TEST(LadderBlock, AcceptsWhatItsPlansSay) {
  for (const LadderSize& size : ladder_sizes)
    for (std::uint32_t seed = 0; seed < 12; ++seed) {
      const auto model = weighted::random_model(size.vocabulary, size.length, 3, seed);
      const auto conditionals = model.conditionals<Rational>();
      const auto distribution = distribution_of<LadderBlock>(conditionals, shape_of(size.paths, size.length));
      ASSERT_TRUE(distribution.complete);
      ASSERT_EQ(distribution.mean_accepted(), planned_mean_accepted(conditionals, size.paths, size.length))
          << model.text();
    }
}

TEST(LadderBlock, OneTokenIsTheLadder) {
  for (const int paths : {1, 2, 3, 4})
    for (std::uint32_t seed = 0; seed < 100; ++seed) {
      const auto conditionals = weighted::random_model(3, 1, 4, seed).conditionals<Rational>();
      const verifiers::Ladder::Core<Exact> ladder(conditionals.distributions(0), paths);
      EXPECT_EQ(planned_mean_accepted(conditionals, paths, 1), ladder.plan.acceptance);
    }
}

TEST(LadderBlock, RoundingOfEqualDistributionsLeavesSomethingToEmit) {
  // Rows of double whose sum misses 1 by an ulp give the chosen distribution a factor of 1 + 2^-52. A refusal is then
  // possible, although its residual is empty, and the explorer would throw. If the plan does not detect the empty
  // residual, the explorer throws on 17 of 200 such models.
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    auto model = weighted::random_model(16, 1, 99, seed);
    model.target = model.proposal;
    EXPECT_NEAR((distribution_of<LadderBlock>(model.conditionals<double>(), shape_of(2, 1)).mean_accepted()), 1,
                1e-12);
    auto longer = weighted::random_model(3, 3, 5, seed);
    longer.target = longer.proposal;
    for (const int paths : {1, 2, 3, 5})  // sums of 27 products of 3
      EXPECT_NEAR(planned_mean_accepted(longer.conditionals<double>(), paths, 3), 3, 1e-12);
  }
}

/// One pair of rows after every prefix: every prefix has the same context.
class OnePair final : public ConditionalModel<RatioTable> {
 public:
  explicit OnePair(RatioTable table) : table_{std::move(table)} {}
  const RatioTable& distributions(int) const override { return table_; }
  int next(int context, Token) const override { return context; }

 private:
  RatioTable table_;
};

TEST(LadderBlockPlans, OneContextAtManyDepthsHasManyPlans) {
  // At deeper nodes fewer paths are active, so nodes of one context must not share plans.
  const OnePair conditionals(RatioTable(std::vector{0.5, 0.3, 0.2}, std::vector{0.2, 0.3, 0.5}));
  LadderPaths<RatioTable> plans;
  const auto& root = plans.root(conditionals, 0, 3);
  const auto& after = plans.after(conditionals, root, conditionals.distributions(0), 1, 0);
  EXPECT_NE(&root, &after);
  EXPECT_LT(after.node.active()[2], 0.5);
  EXPECT_EQ(after.node.active()[0] + after.node.active()[1] + after.node.active()[2], 1);
  EXPECT_EQ(&plans.after(conditionals, root, conditionals.distributions(0), 1, 0), &after);
  EXPECT_NE(&plans.after(conditionals, after, conditionals.distributions(0), 1, 0), &after);
  EXPECT_NE(&plans.root(conditionals, 0, 2), &root);
}

TEST(LadderBlockPlans, ForgettingChangesNothing) {
  const OnePair conditionals(RatioTable(std::vector{0.4, 0.35, 0.15, 0.1}, std::vector{0.1, 0.2, 0.3, 0.4}));
  const LadderBlock verifier;
  LadderPaths<RatioTable> kept, cleared;
  DraftTree tree;
  for (std::uint64_t trial = 0; trial < 500; ++trial) {
    Philox drafts(5, trial, Philox::Role::draft), one(5, trial, Philox::Role::verify),
        other(5, trial, Philox::Role::verify);
    tree.clear(0);
    tree_drafters::IidPaths{}.draw(conditionals, {.drafts = 3, .length = 4, .branching = {}, .stem = 0}, drafts,
                                   tree);
    const DraftedTree<RatioTable> at(conditionals, tree);
    cleared.clear();
    const StepOutput a = verifier.verify(at, kept, one), b = verifier.verify(at, cleared, other);
    ASSERT_EQ(a.node, b.node);
    ASSERT_EQ(a.extra.token, b.extra.token);
  }
}

using verifiers::paths::LadderBlockWor;
using LadderWithoutReplacement = NodeByNode<verifiers::LadderWor>;

template <class V>
StepDistribution<Rational> wor_tree_sampling(const ConditionalModel<Exact>& conditionals, const TreeShape& shape) {
  return distribution_of<V, tree_drafters::WithoutReplacementTree>(conditionals, shape);
}

TreeShape children_of(std::vector<int> children) {
  const int length = static_cast<int>(children.size());
  return {.drafts = children.front(), .length = length, .branching = std::move(children)};
}

TEST(LadderBlockWor, AcceptsTheReferenceNumberOfTokens) {
  std::ifstream file(DRAFTPROOF_SOURCE_DIR "/tests/golden/ladder_wor.json");
  const auto cases = nlohmann::json::parse(file).at("trees");
  ASSERT_EQ(cases.size(), 30u);
  const auto row = [](const nlohmann::json& texts) {
    std::vector<Rational> values;
    for (const auto& text : texts) values.emplace_back(text.get<std::string>());
    return values;
  };
  int enumerated = 0;
  for (const auto& entry : cases) {
    std::vector<Rows<Rational>> rows;
    for (std::size_t c = 0; c < entry.at("p").size(); ++c) rows.emplace_back(row(entry["p"][c]), row(entry["q"][c]));
    const PrefixTable<Rows<Rational>> conditionals(std::move(rows));
    const TreeShape shape = children_of(entry.at("children").get<std::vector<int>>());
    EXPECT_EQ(wor_tree_sampling<LadderBlockWor>(conditionals, shape).mean_accepted(),
              Rational(entry.at("ladder_block_accepted").get<std::string>()))
        << entry.dump();
    const auto enumerate = wor_tree_sampling<LadderWithoutReplacement>(conditionals, shape);
    if (!enumerate.complete) continue;  // too many branches for the explorer
    ++enumerated;
    EXPECT_EQ(enumerate.mean_accepted(), Rational(entry.at("ladder_walk_accepted").get<std::string>()))
        << entry.dump();
  }
  EXPECT_GE(enumerated, 25);
}

TEST(LadderBlockWor, IsNeverBelowTheWalk) {
  const std::vector<std::vector<int>> shapes{{2}, {1, 1}, {2, 1}, {1, 2}, {2, 2}, {3, 1}, {3, 2}, {2, 2, 1}};
  int above = 0;
  for (const auto& children : shapes)
    for (std::uint32_t seed = 0; seed < 10; ++seed) {
      const int length = static_cast<int>(children.size()), vocabulary = children.front() == 3 ? 3 : 2;
      const auto model = weighted::random_model(vocabulary, length, 4, seed);
      const auto conditionals = model.conditionals<Rational>();
      const auto distribution = wor_tree_sampling<LadderBlockWor>(conditionals, children_of(children));
      ASSERT_TRUE(distribution.complete);
      const auto enumerate = wor_tree_sampling<LadderWithoutReplacement>(conditionals, children_of(children));
      EXPECT_GE(distribution.mean_accepted(), enumerate.mean_accepted()) << model.text();
      above += distribution.mean_accepted() > enumerate.mean_accepted();
    }
  EXPECT_GT(above, 5);  // some cases differ
}

}  // namespace
}  // namespace draftproof
