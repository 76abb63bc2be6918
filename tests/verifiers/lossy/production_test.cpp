// Tests of the lossy rules of engines: against closed forms of their output distribution, and at settings that make
// them lossless.
#include <algorithm>
#include <cmath>
#include <string_view>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <draftproof/properties/prover/arbitrary.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/tests/support/exact.hpp>
#include <draftproof/verifiers/lossy/cascade_token_v3.hpp>
#include <draftproof/verifiers/lossy/diversed.hpp>
#include <draftproof/verifiers/lossy/ears.hpp>
#include <draftproof/verifiers/lossy/entropy_verify.hpp>
#include <draftproof/verifiers/lossy/mars.hpp>
#include <draftproof/verifiers/lossy/relaxed_acceptance.hpp>
#include <draftproof/verifiers/lossy/spec_rl.hpp>
#include <draftproof/verifiers/lossy/threshold_acceptance.hpp>

namespace draftproof::verifiers::lossy {
namespace {

using exact::Row;

/// Returns the exact distribution of a rule with its settings.
template <class V>
ExactDistribution<Rational> served(const V& rule, const Instance& instance, std::string_view draft_sampling = "iid") {
  const VerifierOf<V> scheme(Kind::lossy, rule);
  const auto rows = instance.rows();
  return explore_distribution(*registry().drafter(draft_sampling), *scheme.prove_on(rows, instance.drafts), rows,
                              instance.drafts);
}
template <class V>
ExactDistribution<Rational> served(const V& rule, std::string_view instance,
                                   std::string_view draft_sampling = "iid") {
  return served(rule, Instance::parse(instance), draft_sampling);
}

struct Pair {
  Row p, q;
  Rational overlap = 0;  ///< sum of min(p, q)

  explicit Pair(Instance& instance) {
    instance.drafts = 1;
    p = normalised(instance.target);
    q = normalised(instance.proposals.front());
    for (std::size_t x = 0; x < p.size(); ++x) overlap += std::min(p[x], q[x]);
  }
};

bool is_single_draft(const ExactDistribution<Rational>& distribution, const Pair& pair) {
  return distribution.output == pair.p && distribution.draft_accepted == pair.overlap;
}

RC_GTEST_PROP(Diversed, ServesTheMixtureAndAcceptsItsOverlapWithTheProposal, (Instance instance)) {
  const Pair pair(instance);
  for (const double weight : {0.0, 0.25, 0.75, 1.0}) {
    const auto distribution = served(Diversed{.weight = weight}, instance);
    Rational accepted = 0;
    for (std::size_t x = 0; x < pair.p.size(); ++x) {
      const Rational mixed = Rational(weight) * pair.p[x] + (1 - Rational(weight)) * pair.q[x];
      RC_ASSERT(distribution.output[x] == mixed);
      accepted += std::min(mixed, pair.q[x]);
    }
    RC_ASSERT(distribution.draft_accepted == accepted);
    // The equality means that no rule with the same acceptance has a smaller total variation from p.
    RC_ASSERT(total_variation(distribution.output, pair.p) == distribution.draft_accepted - pair.overlap);
  }
}

RC_GTEST_PROP(LosslessSettings, AreSingleDraftSampling, (Instance instance)) {
  const Pair pair(instance);
  RC_ASSERT(is_single_draft(served(Ears{.tolerance = 0}, instance), pair));
  RC_ASSERT(is_single_draft(served(Mars{.ratio = 1}, instance), pair));
  RC_ASSERT(is_single_draft(served(EntropyVerify{.posterior_threshold = 1, .posterior_alpha = 0}, instance), pair));
}

RC_GTEST_PROP(LosslessSettings, OfThresholdsOnDistinctDrafts, (Instance instance)) {
  instance.proposals.resize(1);
  instance.drafts = std::min(instance.drafts, static_cast<int>(instance.target.size()));
  for (const char* distinct : {"fixed_top_k", "without_replacement"})
    RC_ASSERT(served(ThresholdAcceptance{1, 1}, instance, distinct).output == normalised(instance.target));
}

RC_GTEST_PROP(LossyRules, EmitNoTokenOfProbabilityZero, (Instance instance)) {
  const Pair pair(instance);
  for (const auto& distribution :
       {served(CascadeTokenV3{}, instance), served(RelaxedAcceptance{}, instance), served(EntropyVerify{}, instance),
        served(Ears{}, instance), served(Mars{}, instance), served(SpecRl{}, instance),
        served(ThresholdAcceptance{}, instance, "fixed_top_k")}) {
    RC_ASSERT(distribution.mass == 1);
    for (std::size_t x = 0; x < pair.p.size(); ++x) RC_ASSERT(pair.p[x] > 0 || distribution.output[x] == 0);
  }
}

RC_GTEST_PROP(SpecRl, WithoutLenienceStillDrawsFromTheTargetAfterARefusal, (Instance instance)) {
  const Pair pair(instance);
  const auto distribution = served(SpecRl{.lenience = 1}, instance);
  RC_ASSERT(distribution.draft_accepted == pair.overlap);
  for (std::size_t x = 0; x < pair.p.size(); ++x)
    RC_ASSERT(distribution.output[x] == std::min(pair.p[x], pair.q[x]) + (1 - pair.overlap) * pair.p[x]);
}

TEST(CascadeTokenV3, KeepsTokensNearTheMostProbableOne) {
  // With alpha = 1/2 tokens 0 and 2 are kept, token 0 at the bound. Drafts 1 and 3 are refused with probability 1/5 -
  // 1/8 each; the residual has mass on token 2 only.
  const auto kept = served(CascadeTokenV3{.alpha = 0.5}, "p=(2 1 4 1)/8 q=(3 1 0 1)/5 K=1");
  EXPECT_EQ(kept.draft_accepted, Rational(17, 20));
  EXPECT_EQ(kept.output, (Row{Rational(3, 5), Rational(1, 8), Rational(3, 20), Rational(1, 8)}));
  EXPECT_EQ(served(CascadeTokenV3{.alpha = 1}, "p=(2 1 5)/8 q=(1 2 0)/3 K=1").output,
            (Row{Rational(1, 3), Rational(2, 3), 0}));
}

TEST(RelaxedAcceptance, TakesTokensWithinTheDifferenceAndTheMostProbableOneElse) {
  constexpr std::string_view flat = "p=(2 3 3 0)/8 q=(1 1 1 1)/4 K=1";
  EXPECT_EQ(served(RelaxedAcceptance{10, 0}, flat).output, (Row{0, Rational(3, 4), Rational(1, 4), 0}))
      << "both most probable tokens pass, and the first replaces the others";
  EXPECT_EQ(served(RelaxedAcceptance{1, 1}, flat).output, (Row{0, 1, 0, 0})) << "one token can pass";
  EXPECT_EQ(served(RelaxedAcceptance{2, 1}, flat).output, (Row{0, Rational(3, 4), Rational(1, 4), 0}));
  EXPECT_EQ(served(RelaxedAcceptance{10, 0.125}, flat).output,
            (Row{Rational(1, 4), Rational(1, 2), Rational(1, 4), 0}))
      << "a token at the difference passes, a token of probability zero never";
}

TEST(ThresholdAcceptance, TestsAllDraftsWithOneUniformNumber) {
  // p = (1 2 2 3)/8, drafts 0 and 1, t = 3/4: the result is token 0 for u < 1/6, token 1 for u < 3/6, and otherwise a
  // draw from p on tokens 2 and 3.
  constexpr std::string_view two = "p=(1 2 2 3)/8 q=(4 3 1 1)/9 K=2";
  EXPECT_EQ(served(ThresholdAcceptance{1, 0.75}, two, "fixed_top_k").output,
            (Row{Rational(1, 6), Rational(2, 6), Rational(1, 5), Rational(3, 10)}));
  // With the single threshold 1/4, token 1 passes without the test because its p is 1/4.
  const auto single = served(ThresholdAcceptance{0.25, 0.75}, two, "fixed_top_k");
  EXPECT_EQ(single.output, (Row{Rational(1, 6), Rational(5, 6), 0, 0}));
  EXPECT_EQ(single.draft_accepted, 1);
}

TEST(EntropyVerify, IsLenienceByTheEntropy) {
  // Two equal tokens have entropy ln 2, so the lenience l is 1/2 up to 1e-10 and rounding to float32.
  EXPECT_EQ(served(EntropyVerify{}, "p=(1 1)/2 q=(1 7)/8 K=1").output, (Row{Rational(1, 8), Rational(7, 8)}));
  // A target with all mass on one token has l = 0.95, so token 0 is refused only because its p is 0.
  EXPECT_EQ(served(EntropyVerify{}, "p=(0 1)/1 q=(1 1)/2 K=1").draft_accepted, Rational(1, 2));
  // With posterior_alpha = 2, l is exp(-2 ln 2) = 1/4, so a draft is accepted with probability min(1, (1/2) / ((1/4)
  // q)).
  EXPECT_EQ(served(EntropyVerify{.posterior_alpha = 2}, "p=(1 1 0)/2 q=(0 15 1)/16 K=1").draft_accepted,
            Rational(15, 16));
}

TEST(Ears, AddsATolerance) {
  // 1 - max p = 1/2, so a draft with p = 1/2 and q = 1 is accepted with probability 1/2 + 1/4.
  const auto distribution = served(Ears{.tolerance = 0.5}, "p=(1 1)/2 q=(0 1)/1 K=1");
  EXPECT_EQ(distribution.draft_accepted, Rational(3, 4));
  EXPECT_EQ(distribution.output, (Row{Rational(1, 4), Rational(3, 4)}));
  // 1 - max p = 1/2 again, and p / q = 1/2 for either draft.
  EXPECT_EQ(served(Ears{.tolerance = 0.5}, "p=(2 1 1)/4 q=(0 1 1)/2 K=1").output,
            (Row{Rational(1, 4), Rational(3, 8), Rational(3, 8)}));
  EXPECT_EQ(served(Ears{.tolerance = 0.5}, "p=(1 1 0)/2 q=(0 0 1)/1 K=1").draft_accepted, 0)
      << "the clamp of the number";
}

TEST(Mars, TakesTheSecondTokenIfTheMarginIsSmall) {
  // p_2 / p_1 = 3/4 > 1/2: drafts 0 and 2 pass, draft 1 is replaced by a draw from p.
  constexpr std::string_view close = "p=(4 1 3)/8 q=(1 2 1)/4 K=1";
  EXPECT_EQ(served(Mars{.ratio = 0.5}, close).output,
            (Row{Rational(1, 4) + Rational(1, 4), Rational(1, 16), Rational(1, 4) + Rational(3, 16)}));
  EXPECT_EQ(served(Mars{.ratio = 0.75}, close).output, normalised(std::vector{4, 1, 3})) << "not above the ratio";
}

}  // namespace
}  // namespace draftproof::verifiers::lossy
