// ladder_block on all forms of laws: tables, fresh rows with buckets, and its caches between steps.
#include <gtest/gtest.h>

#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/sim/drafters/trees/paths.hpp>
#include <draftproof/tests/support/chosen_law.hpp>
#include <draftproof/tests/support/weighted_models.hpp>
#include <draftproof/verifiers/paths/ladder_block.hpp>

namespace draftproof {
namespace {

using verifiers::paths::LadderBlock;

/// Rows of sixteenths, which float holds exactly.
weighted::Model sixteenths(int vocabulary, int length, std::uint32_t seed) {
  std::mt19937 words(seed);
  auto model = weighted::random_model(vocabulary, length, 1, seed);
  for (auto* rows : {&model.target, &model.proposal})
    for (auto& row : *rows) {
      std::fill(row.begin(), row.end(), 0);
      for (int i = 0; i < 16; ++i) ++row[words() % row.size()];
    }
  return model;
}

/// A model with laws of type `L` over the rows of `plain`; fresh rows refer to `kept`.
template <class L>
PrefixTable<L> as(const PrefixTable<Rows<double>>& plain, std::size_t count, std::vector<std::vector<float>>& kept) {
  std::vector<L> laws;
  kept.reserve(2 * count);
  for (std::size_t c = 0; c < count; ++c) {
    const auto& rows = plain.laws(static_cast<int>(c));
    std::vector<double> p, q;
    for (Token x = 0; x < rows.vocabulary(); ++x) {
      p.push_back(rows.target(x));
      q.push_back(rows.proposal(x));
    }
    if constexpr (std::is_same_v<L, FreshRows<float>>) {
      kept.emplace_back(p.begin(), p.end());
      kept.emplace_back(q.begin(), q.end());
      laws.emplace_back(std::span<const float>(kept[kept.size() - 2]), std::span<const float>(kept.back()));
    } else {
      laws.emplace_back(p, q);
    }
  }
  return PrefixTable<L>(std::move(laws));
}

/// Law of the step with the verifier on `L` and the drafts of the same rows in double.
template <class L>
StepLaw<double> law_on(const weighted::Model& model, const TreeShape& shape) {
  const auto plain = model.conditionals<double>();
  std::vector<std::vector<float>> kept;
  const auto conditionals = as<L>(plain, model.target.size(), kept);
  PathDeciderOf<LadderBlock, L, Explorer<double>> decider({}, conditionals, shape);
  StepLaw<double> law;
  law.accepted.assign(static_cast<std::size_t>(shape.length) + 1, 0);
  EXPECT_NE((explore_trees<Rows<double>, double>(
                TreeDrafterOf<tree_drafters::IidPaths>(), plain, shape, 0, {},
                [&](const DraftTree& tree, double drawn) {
                  EXPECT_TRUE((
                      explore_steps<L, double>(decider, tree, {}, {}, [&](int node, Token extra, double probability) {
                        Tokens step = path_to(tree, node);
                        step.push_back(extra);
                        law.emitted[step] += drawn * probability;
                        law.accepted[static_cast<std::size_t>(tree.depth(node))] += drawn * probability;
                      })));
                })),
            0u);
  return law;
}

template <class L>
class LadderBlockOn : public testing::Test {};
using Forms = testing::Types<Rows<double>, RatioTable, FreshRows<float>>;
TYPED_TEST_SUITE(LadderBlockOn, Forms, );

TYPED_TEST(LadderBlockOn, LawIsTheTargetsUpToRounding) {
  // At most 2^9 trees of 2^5 branches, each a product of 20 factors with errors of 2^-52 or, where buckets truncate,
  // V 2^-60: below 2^14 20 2^-52 = 7e-11 if all errors had one sign.
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    const auto model = sixteenths(3, 2, seed);
    const auto conditionals = model.conditionals<double>();
    const auto law = law_on<TypeParam>(model, {.drafts = 3, .length = 2, .branching = {}, .stem = 0});
    EXPECT_LT(weighted::completed_error(law, conditionals, 2), 7e-11) << model.text();
    const auto exact = static_cast<double>(planned_mean_accepted(model.conditionals<Rational>(), 3, 2));
    if constexpr (std::is_same_v<TypeParam, FreshRows<float>>)
      EXPECT_GT(law.mean_accepted(), 0);  // tokens in one bucket cost acceptance
    else
      EXPECT_NEAR(law.mean_accepted(), exact, 7e-11) << model.text();
  }
}

/// One pair of rows after every prefix: every prefix has the same context.
class OnePair final : public ConditionalModel<RatioTable> {
 public:
  explicit OnePair(RatioTable table) : table_{std::move(table)} {}
  const RatioTable& laws(int) const override { return table_; }
  int next(int context, Token) const override { return context; }

 private:
  RatioTable table_;
};

TEST(LadderBlockPlans, OneContextAtManyDepthsHasManyPlans) {
  // At deeper nodes fewer paths are together, so nodes of one context must not share plans.
  const OnePair conditionals(RatioTable(std::vector{0.5, 0.3, 0.2}, std::vector{0.2, 0.3, 0.5}));
  LadderPaths<RatioTable> plans;
  const auto& root = plans.root(conditionals, 0, 3);
  const auto& after = plans.after(conditionals, root, conditionals.laws(0), 1, 0);
  EXPECT_NE(&root, &after);
  EXPECT_LT(after.node.active()[2], 0.5);
  EXPECT_EQ(after.node.active()[0] + after.node.active()[1] + after.node.active()[2], 1);
  EXPECT_EQ(&plans.after(conditionals, root, conditionals.laws(0), 1, 0), &after);
  EXPECT_NE(&plans.after(conditionals, after, conditionals.laws(0), 1, 0), &after);
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

}  // namespace
}  // namespace draftproof
