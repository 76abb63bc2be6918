// Tests of rules of paths that look biased and are exact: each passes every property on at least a hundred instances,
// with a distance of exactly 0 unless it carries state between iterations.
#include <gtest/gtest.h>

#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/tests/support/small_models.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof {
namespace {

constexpr Info innocent_path(std::string_view name, int most) {
  return {.name = name,
          .summary = "looks biased, is exact",
          .source = "this test",
          .drafts = DraftSamplings{"iid_paths"},
          .most_drafts = most};
}

void expect_no_alarm(const AnyPathVerifier& verifier) {
  const PathProof proof = prove(verifier, small::drafter("iid_paths"), {.instances = 120});
  EXPECT_GE(proof.instances, 100);
  EXPECT_TRUE(proof.exact()) << verifier.info().name;
  EXPECT_FALSE(proof.violation()) << verifier.info().name << ": " << proof.violation()->property << " on "
                                  << proof.violation()->instance << ", " << proof.violation()->evidence;
  if (!verifier.stateful()) {
    ASSERT_TRUE(proof.distance);
    EXPECT_EQ(proof.distance->largest, 0);
  }
}

/// Block verification that tests every length from the shortest to the longest, each with a fresh coin, and keeps the
/// longest that succeeds. The usual form begins with the longest and stops at the first success.
struct ForwardBlock {
  static constexpr Info info = innocent_path("forward_block", 1);
  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    using Scalar = typename L::Scalar;
    const PlainSteps<L> steps(at);
    Scalar clipped[max_path_length + 1];
    clip_products(steps, clipped);
    const int length = steps.length();
    int kept = 0;
    for (int i = 1; i < length; ++i) {
      if (!(clipped[i] > steps.zero())) continue;
      const Scalar excess = steps.excess(i, clipped[i]);
      if (!(clipped[i] < steps.one()) || random.flip(excess, Scalar(excess + (steps.one() - clipped[i])))) kept = i;
    }
    if (random.flip(clipped[length], steps.one())) return {steps.node(length), random.emit(steps.bonus())};
    return {steps.node(kept), random.emit(steps.correction(kept, clipped[kept]))};
  }
};

TEST(FalsePathAlarms, BlockTestsAskedFromEitherEnd) {
  const PathVerifierOf<ForwardBlock> forward(Kind::verifier);
  expect_no_alarm(forward);
  for (int seed = 0; seed < 100; ++seed) {
    const auto model = small::random_model(seed, 2 + seed % 2, 2);
    const TreeShape shape{.drafts = 1, .length = 3, .branching = {}, .stem = 0};
    const auto one = forward.prove_on(model, shape), other = small::verifier("block").prove_on(model, shape);
    small::for_each_tree("iid_paths", model, shape, [&](const DraftTree& tree, const Rational&) {
      EXPECT_EQ(small::on_tree(*one, tree), small::on_tree(*other, tree)) << "seed " << seed;
    });
  }
}

/// Tests only the first draft of every node. A draw from the residual ends the step, even if the drawn token is another
/// draft of the node.
struct ResidualStops {
  static constexpr Info info = innocent_path("residual_stops", 0);
  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    for (int u = DraftTree::root;;) {
      const L& distributions = at.distributions(u);
      if (at.tree().leaf(u)) return {u, random.emit(distributions.residual(distributions.zero()))};
      const int child = *at.tree().draws(u).begin();
      const Token x = at.tree().token(child);
      if (!random.flip(distributions.target(x), distributions.proposal(x)))
        return {u, random.emit(distributions.residual(distributions.one()))};
      u = child;
    }
  }
};

TEST(FalsePathAlarms, AResidualTokenThatWasDraftedEndsTheStepOrGoesOn) {
  const PathVerifierOf<ResidualStops> stops(Kind::verifier);
  expect_no_alarm(stops);
  expect_no_alarm(small::verifier("naive_tree_tree"));
  // The accepted lengths of ResidualStops and naive_tree_tree differ for p = (1 2)/3, q = (2 1)/3 and two drafts.
  const auto model = small::constant({1, 2}, {2, 1});
  const TreeShape shape{.drafts = 2, .length = 1, .branching = {}, .stem = 0};
  const auto distribution = explore_step_distribution<Rows<Rational>>(small::drafter("iid_paths"),
                                                                      *stops.prove_on(model, shape), model, shape);
  EXPECT_EQ(distribution.mean_accepted(), Rational(2, 3));
  EXPECT_GT(small::distribution("naive_tree_tree", "iid_paths", model, shape).mean_accepted(),
            distribution.mean_accepted());
}

TEST(FalsePathAlarms, TheBestOfMorePathsMayBeShorter) {
  expect_no_alarm(small::verifier("greedy_multipath_block"));
  // For p = q = (1 1)/2 and L = 1 a single path is always accepted. With two paths, the selected path no longer has
  // distribution q, so it can be rejected.
  const auto model = small::constant({1, 1}, {1, 1});
  const auto accepted = [&model](int drafts) {
    return small::distribution("greedy_multipath_block", "iid_paths", model,
                               {.drafts = drafts, .length = 1, .branching = {}, .stem = 0})
        .mean_accepted();
  };
  EXPECT_EQ(accepted(1), 1);
  EXPECT_EQ(accepted(2), Rational(3, 4));
}

TEST(FalsePathAlarms, AStatefulRuleIsJudgedOverSeveralCalls) {
  expect_no_alarm(small::verifier("greedy_block"));
  // The output of a single iteration on the small model, completed by the target, does not have the target's
  // distribution. The state that it carries makes the next iteration compensate for this.
  const auto small_model = small::constant({1, 2}, {2, 1});
  const auto once = small::distribution("greedy_block", "iid_paths", small_model,
                                        {.drafts = 1, .length = 2, .branching = {}, .stem = 0});
  EXPECT_FALSE(small::exact(once, small_model));
}

}  // namespace
}  // namespace draftproof
