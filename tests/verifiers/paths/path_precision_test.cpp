// Tests of schemes of paths on prepared tables and on fresh rows: their exact distribution by exploration, and trials
// with Philox.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/properties/paths/step_distribution.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/sim/drafters/trees/paths.hpp>
#include <draftproof/sim/drafters/trees/trees.hpp>
#include <draftproof/tests/support/chosen_distribution.hpp>
#include <draftproof/tests/support/small_models.hpp>
#include <draftproof/tests/support/weighted_models.hpp>
#include <draftproof/verifiers/paths/branch_reentry.hpp>
#include <draftproof/verifiers/paths/greatest/order_buckets.hpp>
#include <draftproof/verifiers/paths/greedy_block.hpp>
#include <draftproof/verifiers/paths/greedy_multipath_block.hpp>
#include <draftproof/verifiers/paths/ladder_block.hpp>
#include <draftproof/verifiers/paths/layerwise_rejection.hpp>
#include <draftproof/verifiers/paths/traversal.hpp>

namespace draftproof::path_precision_test {
namespace {

using Distribution = std::map<Tokens, double>;

template <class V, class D, class L>
Distribution distribution_of(const ConditionalModel<L>& conditionals, const TreeShape& shape) {
  Distribution distribution;
  PathDeciderOf<V, L, Explorer<double>> decider({}, conditionals, shape);
  Explorer<double> explorer;
  DraftTree tree;
  StepOutput step;
  const bool whole = explorer.explore(
      [&](Explorer<double>& random) {
        tree.clear(0);
        D{}.draw(conditionals, shape, random, tree);
        step = decider.decide(tree, {}, random);
        return step.extra;
      },
      [&](const Leaf<double>& leaf) {
        Tokens tokens = path_to(tree, step.node);
        tokens.push_back(leaf.verdict.token);
        if (leaf.verdict.token >= 0) distribution[tokens] += leaf.probability;
        for (const auto& [token, weight] : leaf.spread) {
          tokens.back() = token;
          distribution[tokens] += leaf.probability / leaf.spread_total * weight;
        }
      });
  EXPECT_TRUE(whole);
  return distribution;
}

/// One model as plain rows, as tables, and as fresh rows of double and float.
struct PrecisionForms {
  std::vector<std::vector<double>> target, proposal;
  std::vector<std::vector<float>> narrow_target, narrow_proposal;

  /// Rows of fractions of small weights, which binary formats cannot represent exactly.
  PrecisionForms(int seed, int vocabulary, int length)
      : PrecisionForms(small::random_model(seed, vocabulary, length), weighted::prefixes(vocabulary, length)) {}
  PrecisionForms(const PrefixTable<Rows<Rational>>& model, std::size_t count) {
    for (int c = 0; c < static_cast<int>(count); ++c) {
      auto &p = target.emplace_back(), &q = proposal.emplace_back();
      for (Token x = 0; x < model.vocabulary(); ++x) {
        p.push_back(static_cast<double>(model.distributions(c).target(x)));
        q.push_back(static_cast<double>(model.distributions(c).proposal(x)));
      }
      narrow_target.emplace_back(p.begin(), p.end());
      narrow_proposal.emplace_back(q.begin(), q.end());
    }
  }
  template <class L, class P>
  PrefixTable<L> as(const P& p, const P& q) const {
    std::vector<L> distributions;
    for (std::size_t c = 0; c < p.size(); ++c) distributions.emplace_back(p[c], q[c]);
    return PrefixTable<L>(std::move(distributions));
  }
  PrefixTable<Rows<double>> rows() const { return as<Rows<double>>(target, proposal); }
  PrefixTable<RatioTable> tables() const { return as<RatioTable>(target, proposal); }
  PrefixTable<FreshRows<double>> fresh() const { return as<FreshRows<double>>(target, proposal); }
  PrefixTable<FreshRows<float>> floats() const { return as<FreshRows<float>>(narrow_target, narrow_proposal); }
};

double distance(const Distribution& a, const Distribution& b) {
  double sum = 0;
  for (const auto& [tokens, probability] : a) {
    const auto found = b.find(tokens);
    sum += std::abs(probability - (found == b.end() ? 0 : found->second));
  }
  for (const auto& [tokens, probability] : b)
    if (!a.contains(tokens)) sum += probability;
  return sum / 2;
}

template <class T>
class PathForms : public testing::Test {};

template <class V, class D>
struct With {
  using Verifier = V;
  using Drafter = D;
};
using Schemes = testing::Types<With<verifiers::paths::GreedyBlock, tree_drafters::IidPaths>,
                               With<verifiers::paths::Traversal, tree_drafters::IidPaths>,
                               With<verifiers::paths::Traversal, tree_drafters::WithoutReplacementTree>,
                               With<verifiers::paths::LayerwiseRejection, tree_drafters::IidPaths>,
                               With<verifiers::paths::GreedyMultipathBlock, tree_drafters::IidPaths>,
                               With<verifiers::paths::BranchReentry, tree_drafters::IidPaths>>;
TYPED_TEST_SUITE(PathForms, Schemes);

TYPED_TEST(PathForms, HaveOneDistribution) {
  using V = typename TypeParam::Verifier;
  using D = typename TypeParam::Drafter;
  for (int seed = 0; seed < 12; ++seed) {
    const TreeShape shape{.drafts = V::info.most_drafts == 1 ? 1 : 2, .length = 2};
    const PrecisionForms forms(700 + seed, 3, 2);
    const Distribution reference = distribution_of<V, D>(forms.rows(), shape);
    // Sums truncate V terms at 2^-60, everything else rounds at 2^-53; division by a residual mass F amplifies errors
    // by at most 1 / F, and an accept test by at most 1 / (1 - w); both are below 10^4 for weights of 0 to 5. In total:
    // 81 trees, 10 roundings, 10^4 2^-53 < 1e-9.
    EXPECT_LT(distance(reference, distribution_of<V, D>(forms.tables(), shape)), 1e-9) << seed;
    EXPECT_LT(distance(reference, distribution_of<V, D>(forms.fresh(), shape)), 1e-9) << seed;
  }
}

/// Expects that the token after every reached prefix has the target's distribution.
template <class L>
void expect_target(const Distribution& distribution, const ConditionalModel<L>& conditionals, double tolerance) {
  std::map<Tokens, double> reached, beyond;
  for (const auto& [tokens, probability] : distribution)
    for (std::size_t n = 1; n <= tokens.size(); ++n) {
      const Tokens prefix(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(n));
      reached[prefix] += probability;
      beyond[Tokens(prefix.begin(), prefix.end() - 1)] += probability;
    }
  EXPECT_NEAR(beyond[{}], 1, tolerance);
  for (const auto& [prefix, probability] : beyond) {
    int context = 0;
    for (const Token x : prefix) context = conditionals.next(context, x);
    for (Token x = 0; x < conditionals.distributions(context).vocabulary(); ++x) {
      Tokens longer = prefix;
      longer.push_back(x);
      EXPECT_NEAR(reached[longer], probability * conditionals.distributions(context).target(x), tolerance);
    }
  }
}

// Fresh rows rank tokens by buckets of p / q, and by ids within a bucket. The choice of a path and the distribution of
// the chosen path must use the same order.
TEST(PathBuckets, GreedyMultipathBlockWithinOneBucketOfRatios) {
  const std::vector<double> p{0.331, 0.334, 0.335}, q{0.334, 0.333, 0.333};
  std::vector<FreshRows<double>> distributions;
  distributions.emplace_back(p, q);
  ASSERT_EQ(OrderBuckets::of(p[1], q[1]), OrderBuckets::of(p[2], q[2]));
  const PrefixTable<FreshRows<double>> conditionals(std::move(distributions));
  for (const int drafts : {2, 3})  // 729 trees, 10 roundings of 2^-53, sums of three terms truncated at 2^-60
    expect_target(distribution_of<verifiers::paths::GreedyMultipathBlock, tree_drafters::IidPaths>(
                      conditionals, {.drafts = drafts, .length = 2}),
                  conditionals, 1e-12);
}

// Several tokens in one bucket of fresh rows reduce the acceptance of ladder_block and do not change its output. Rows
// consist of sixteenths, which float represents exactly. There are at most 2^9 trees of 2^5 branches, each a product of
// 20 factors with errors of 2^-52 or, where buckets truncate, V 2^-60: below 2^14 20 2^-52 = 7e-11 if all errors had
// one sign.
TEST(PathBuckets, LadderBlockEmitsTheTargetOnEveryForm) {
  const TreeShape shape{.drafts = 3, .length = 2};
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    std::mt19937 words(seed);
    auto model = weighted::random_model(3, 2, 1, seed);
    for (auto* rows : {&model.target, &model.proposal})
      for (auto& row : *rows) {
        std::fill(row.begin(), row.end(), 0);
        for (int i = 0; i < 16; ++i) ++row[words() % row.size()];
      }
    const auto exact = model.conditionals<Rational>();
    const PrecisionForms forms(exact, model.target.size());
    const auto expect = [&](const auto& conditionals, bool buckets) {
      const Distribution distribution =
          distribution_of<verifiers::paths::LadderBlock, tree_drafters::IidPaths>(conditionals, shape);
      expect_target(distribution, conditionals, 7e-11);
      double accepted = 0;
      for (const auto& [tokens, probability] : distribution)
        accepted += probability * static_cast<double>(tokens.size() - 1);
      const auto planned = static_cast<double>(planned_mean_accepted(exact, 3, 2));
      if (buckets)
        EXPECT_GT(accepted, 0);
      else
        EXPECT_NEAR(accepted, planned, 7e-11) << model.text();
    };
    expect(forms.rows(), false);
    expect(forms.tables(), false);
    expect(forms.floats(), true);
  }
}

/// Returns the mean of accepted tokens in `trials` runs, and expects that each step is valid.
template <class L>
double mean_accepted(const AnyPathVerifier& verifier, PathDecider<L, Philox>& decider,
                     const ConditionalModel<L>& conditionals, const ConditionalModel<RatioTable>& tables,
                     const TreeShape& shape, int vocabulary, int trials) {
  double sum = 0;
  DraftTree tree;
  for (int trial = 0; trial < trials; ++trial) {
    Philox drafting(1, static_cast<std::uint64_t>(trial), Philox::Role::draft);
    Philox verifying(1, static_cast<std::uint64_t>(trial), Philox::Role::verify);
    tree.clear(0);
    small::drafter("iid_paths").draw(tables, shape, drafting, tree);
    const StepOutput step = decider.decide(tree, {}, verifying);
    EXPECT_TRUE(step.extra.token >= 0 && step.extra.token < vocabulary) << verifier.info().name;
    EXPECT_GT(conditionals.distributions(tree.context(step.node)).target(step.extra.token), 0)
        << verifier.info().name;
    sum += tree.depth(step.node);
  }
  return sum / trials;
}

TEST(PathRuns, PhiloxOnTables) {
  constexpr int trials = 20'000, length = 3;
  // By Hoeffding's inequality, a mean of n numbers in 0 .. L differs from its expectation by more than t with
  // probability at most 2 exp(-2 n t^2 / L^2), 1e-10 here.
  const double bound = length * std::sqrt(std::log(2 / 1e-10) / (2 * trials));
  const PrecisionForms forms(42, 3, length);
  const auto rows = forms.rows();
  const auto tables = forms.tables();
  for (const std::string_view name :
       {"block", "greedy_block", "traversal", "greedy_multipath_block", "branch_reentry", "layerwise_rejection"}) {
    const AnyPathVerifier& verifier = small::verifier(name);
    const TreeShape shape{.drafts = verifier.takes(2) ? 2 : 1, .length = length};
    const auto exploring = verifier.explore_on(rows, shape);
    const double expected =
        explore_step_distribution<Rows<double>>(small::drafter("iid_paths"), *exploring, rows, shape).mean_accepted();
    const auto on_tables = verifier.simulate_on(tables, shape);
    EXPECT_NEAR(mean_accepted(verifier, *on_tables, tables, tables, shape, 3, trials), expected, bound) << name;
  }
}

}  // namespace
}  // namespace draftproof::path_precision_test
