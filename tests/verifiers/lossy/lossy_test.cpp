// Tests of lossy schemes against their definitions.
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <draftproof/properties/prover/arbitrary.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/tests/support/exact.hpp>
#include <draftproof/verifiers/lossy/cactus.hpp>
#include <draftproof/verifiers/lossy/mentored_decoding.hpp>
#include <draftproof/verifiers/lossy/typical_sample.hpp>

namespace draftproof {
namespace {

using Doubles = std::vector<double>;

TEST(LossyControls, ThresholdOfAFlatTargetIsItsProbability) {
  // The entropy H of a flat target, with the addend in the logarithm, is -ln(1/4 + added), so the threshold delta
  // exp(-H) is delta (1/4 + added).
  const Rows<double> flat(Doubles(4, 0.25), Doubles(4, 0.25));
  EXPECT_NEAR(verifiers::lossy::typical_threshold(flat, 1, 0.5), 0.125, 1e-15);
  EXPECT_NEAR(verifiers::lossy::typical_threshold(flat, 1, 0.5, 1e-5), 0.125005, 1e-15);
  EXPECT_EQ(verifiers::lossy::typical_threshold(flat, 0.1, 0.5), 0.1);
}

TEST(LossyControls, ThresholdOfACertainTargetIsDelta) {
  // H = -ln(1 + added) is slightly negative, but every term of the sum from which H is computed must be non-negative,
  // because a sum in fixed point could not represent a negative term.
  const Doubles sure{1, 0};
  for (const double added : {0.0, 1e-5}) {
    EXPECT_NEAR(verifiers::lossy::typical_threshold(Rows<double>(sure, sure), 2, 0.5, added), 0.5 * (1 + added),
                1e-15);
    EXPECT_NEAR(verifiers::lossy::typical_threshold(RatioTable(sure, sure), 2, 0.5, added), 0.5 * (1 + added), 1e-15);
  }
}

TEST(LossyControls, WhereNoTokenIsTypicalTheWholeTargetIsServed) {
  // With delta = 1 the addend lifts the threshold above every token of a flat target.
  const VerifierOf<verifiers::lossy::TypicalSample> strict(Kind::mutant, {.epsilon = 1, .delta = 1});
  const Rows<double> flat(Doubles(4, 0.25), Doubles{1, 0, 0, 0});
  const auto distribution = explore_distribution(*registry().drafter("iid"), *strict.explore_on(flat, 1), flat, 1);
  EXPECT_EQ(distribution.output, Doubles(4, 0.25));
  EXPECT_EQ(distribution.draft_accepted, 0.25) << "a draw that was drafted counts as accepted";
}

TEST(LossyControls, CactusLeavesCertaintyAlone) {
  const auto rows = Instance::parse("p=(1 0)/1 q=(1 3)/4 K=1").rows();
  const VerifierOf<verifiers::lossy::Cactus> cactus(Kind::mutant);
  const auto distribution = explore_distribution(*registry().drafter("iid"), *cactus.prove_on(rows, 1), rows, 1);
  EXPECT_EQ(distribution.output, (exact::Row{1, 0}));
  EXPECT_EQ(distribution.draft_accepted, Rational(1, 4));
}

// Tests of mentored decoding: no distribution within the divergence accepts more; a divergence of 0 gives single-draft
// sampling, and a large divergence gives q.

using verifiers::lossy::MentoredDecoding;
using Doubles = std::vector<double>;

template <class Scalar>
ExactDistribution<Scalar> distribution_of(double divergence, const Rows<Scalar>& rows) {
  const VerifierOf<MentoredDecoding> scheme(Kind::mutant, {.divergence = divergence});
  const AnyDrafter& iid = *registry().drafter("iid");
  if constexpr (std::is_same_v<Scalar, double>)
    return explore_distribution(iid, *scheme.explore_on(rows, 1), rows, 1);
  else
    return explore_distribution(iid, *scheme.prove_on(rows, 1), rows, 1);
}

double divergence(const Doubles& distribution, const Doubles& p) {
  double sum = 0;
  for (std::size_t x = 0; x < p.size(); ++x)
    if (distribution[x] > 0) sum += p[x] > 0 ? distribution[x] * std::log(distribution[x] / p[x]) : HUGE_VAL;
  return sum;
}

double overlap(const Doubles& a, const Doubles& b) {
  double sum = 0;
  for (std::size_t x = 0; x < a.size(); ++x) sum += std::min(a[x], b[x]);
  return sum;
}

/// Returns the highest acceptance of any distribution within the divergence, on a grid of the simplex over three
/// tokens.
double best_of_grid(const Doubles& p, const Doubles& q, double allowed, int cells) {
  double best = 0;
  for (int i = 0; i <= cells; ++i)
    for (int j = 0; i + j <= cells; ++j) {
      const Doubles distribution{1.0 * i / cells, 1.0 * j / cells, 1.0 * (cells - i - j) / cells};
      if (divergence(distribution, p) <= allowed) best = std::max(best, overlap(distribution, q));
    }
  return best;
}

TEST(MentoredDecoding, NoDistributionWithinTheDivergenceAcceptsMore) {
  constexpr int cells = 400;
  const std::vector<std::pair<Doubles, Doubles>> pairs{{{0.5, 0.3, 0.2}, {0.2, 0.3, 0.5}},
                                                       {{0.1, 0.2, 0.7}, {0.6, 0.35, 0.05}},
                                                       {{1. / 3, 1. / 3, 1. / 3}, {0, 0.25, 0.75}},
                                                       {{0, 0.4, 0.6}, {0.5, 0.1, 0.4}},
                                                       {{0.5, 0.5, 0}, {0, 0, 1}}};
  for (const auto& [p, q] : pairs)
    for (const double allowed : {0.001, 0.02, 0.1, 0.5}) {
      const Rows<double> rows(p, q);
      const auto distribution = distribution_of(allowed, rows);
      EXPECT_NEAR(distribution.mass, 1, 1e-12);
      EXPECT_NEAR(distribution.draft_accepted, overlap(distribution.output, q), 1e-12)
          << "single-draft sampling of its own output distribution";
      // The tolerance covers sums of three terms in divergence_of: 2^-53 each, amplified by 1024, truncated at 2^-60.
      EXPECT_LE(divergence(distribution.output, p), allowed + 1e-12);
      const double best = best_of_grid(p, q, allowed, cells);
      // MentoredDecoding bisects its factor c to 2^-50, and the slope of the distribution in c is at most 1 / p, so
      // acceptance changes by less than 1e-12.
      EXPECT_LE(best, distribution.draft_accepted + 1e-12) << allowed;
      // A move towards p brings the best distribution to a point of the grid: it moves by at most 4 cells and stays
      // within the divergence.
      EXPECT_GE(best, distribution.draft_accepted - 4.0 / cells) << allowed;
    }
}

RC_GTEST_PROP(MentoredDecoding, WithNothingAllowedIsSingleDraft, (Instance instance)) {
  instance.drafts = 1;
  const auto rows = instance.rows();
  const auto single = exact::distribution("single_draft", "iid", rows, 1);
  const auto distribution = distribution_of(0.0, rows);
  RC_ASSERT(distribution.output == single.output);
  RC_ASSERT(distribution.draft_accepted == single.draft_accepted);
}

RC_GTEST_PROP(MentoredDecoding, InFractionsTheTotalIsOneAndTheDivergenceKept, (Instance instance)) {
  instance.drafts = 1;
  const auto rows = instance.rows();
  const Doubles p = exact::as_doubles(normalised(instance.target));
  Rational before = 0;
  for (const double allowed : {0.0, 0.01, 0.1, 1.0}) {
    const auto distribution = distribution_of(allowed, rows);
    RC_ASSERT(distribution.mass == 1);
    RC_ASSERT(distribution.draft_accepted == distribution.draft_emitted);
    RC_ASSERT(divergence(exact::as_doubles(distribution.output), p) <= allowed + 1e-12);
    RC_ASSERT(distribution.draft_accepted >= before);
    before = distribution.draft_accepted;
  }
}

TEST(MentoredDecoding, WithEverythingAllowedIsTheProposal) {
  const auto rows = Instance::parse("p=(1 1)/2 q=(1 7)/8 K=1").rows();
  const auto distribution = distribution_of(10.0, rows);
  EXPECT_EQ(distribution.draft_accepted, 1);
  EXPECT_EQ(distribution.output, normalised(std::vector{1, 7}));
}

TEST(MentoredDecoding, ByHandOnTwoTokens) {
  // p = (1 1)/2, q = (0 1): the output is (1 - t, t), and the draft is accepted with probability t; KL = t ln 2t + (1 -
  // t) ln 2(1 - t).
  const auto distribution = distribution_of(0.1, Rows<double>({0.5, 0.5}, Doubles{0, 1}));
  const double t = distribution.draft_accepted;
  EXPECT_GT(t, 0.5);
  EXPECT_NEAR(t * std::log(2 * t) + (1 - t) * std::log(2 * (1 - t)), 0.1, 1e-12);
  EXPECT_NEAR(distribution.output[1], t, 1e-15);
}

}  // namespace
}  // namespace draftproof
