// Tests of exact comparisons: of an optimum with 1, of the optimum of two drafts, and of an acceptance with K-SEQ's.
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/optimum/independent_bounds.hpp>
#include <draftproof/optimum/set_distribution.hpp>
#include <draftproof/optimum/transport.hpp>
#include <draftproof/properties/prover/arbitrary.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/simulation/sampling_optimum.hpp>
#include <draftproof/tests/support/random_distributions.hpp>

namespace draftproof {
namespace {

TEST(TwoDrafts, TheClosedFormIsTheFlow) {
  SmallDistributionsSource source(61);
  int below_one = 0;
  for (int i = 0; i < 1500; ++i) {
    SmallDistributions distributions = source.next(7, 1, false);
    distributions.drafts = 2;
    const auto& q = distributions.proposals.front();
    const auto found = two_draft_optimum<Rational>(distributions.target, q);
    const auto sets = distributions.sets(*registry().drafter("iid"));
    ASSERT_EQ(found, optimal_transport(distributions.target, sets).acceptance);
    const RatioTable table = distributions.table();
    // The tolerance is the sum of four roundings on the table and of the error of rows stored as doubles, which the
    // comment of tolerance() in scans_test.cpp derives.
    ASSERT_NEAR(two_draft_optimum(table), static_cast<double>(found), 12 * 0x1p-53);
    ASSERT_NEAR(two_draft_optimum(table), iid_optimum(table, 2).acceptance, 8 * 0x1p-53);
    below_one += found < 1;
  }
  EXPECT_GT(below_one, 500);
  EXPECT_LT(below_one, 1470);
}

/// Half of the instances lie on the boundary of certain acceptance, or 1e-12 outside: p is a distribution that a choice
/// among K drafts attains without a rejection.
TEST(CertainAcceptance, OfIidDraftsIsWhatAllCutsSay) {
  SmallDistributionsSource source(62);
  int always = 0, touching = 0;
  for (int i = 0; i < 2000; ++i) {
    SmallDistributions distributions = source.next(6, 3, false);
    const auto& q = distributions.proposals.front();
    if (i % 2 == 0) {
      // p is the distribution of the draft with the highest id, which can therefore always be accepted. The mass of p
      // on S, the tokens up to some id, is q(S)^K, the probability that all drafts are in S.
      Rational below = 0;
      for (std::size_t x = 0; x < q.size(); ++x) {
        distributions.target[x] =
            exact::power<Rational>(below + q[x], distributions.drafts) - exact::power(below, distributions.drafts);
        below += q[x];
      }
      if (i % 4 == 0) {  // slightly outside the boundary
        const Rational hair = std::min<Rational>(distributions.target.front(), Rational(1, 1'000'000'000'000));
        distributions.target.front() -= hair;
        distributions.target.back() += hair;
      }
    }
    const auto sets = distributions.sets(*registry().drafter("iid"));
    const bool wanted = always_accepts(distributions.target, sets);
    ASSERT_EQ(always_accepts_iid(distributions.target, q, distributions.drafts), wanted) << i;
    always += wanted;
    touching += wanted && i % 2 == 0;
  }
  EXPECT_GT(always, 400);
  EXPECT_GT(touching, 200);
  EXPECT_LT(always, 1600);
}

TEST(CertainAcceptance, OnATableIsDecidedInItsIntegers) {
  SmallDistributionsSource source(63);
  int always = 0, thin = 0;
  for (int i = 0; i < 3000; ++i) {
    const SmallDistributions distributions = source.next(6, 6, false);
    auto p = exact::as_doubles(distributions.target);
    const auto q = exact::as_doubles(distributions.proposals.front());
    int drafts = distributions.drafts;
    // The first token has mass 1/16, so that its cut is exactly 1 in double, or mass 1/16 - 2^-57, slightly outside the
    // boundary.
    if (i % 3 == 0) {
      const double unit = i % 2 == 0 ? 0 : 0x1p-57;  // the spacing of doubles just below 1/16
      p = {0.0625 - unit, 0.4375, 0.5 + unit};
      const RatioTable table(p, std::vector<double>{0.25, 0.75, 0});
      // The deciding comparison is of p(S) with q(S)^2 = (1/4)^2, where S has only the first token.
      ASSERT_EQ(always_accepts_iid(table, 2), false);  // token 2 is never drafted
      const RatioTable served(std::vector<double>{0.0625 - unit, 0.9375 + unit}, std::vector<double>{0.25, 0.75});
      ASSERT_EQ(always_accepts_iid(served, 2), unit == 0);
      thin += iid_optimum(served, 2).acceptance == 1 && unit > 0;
      continue;
    }
    if (i % 3 == 1) {
      p = q;
      drafts = 1 + source.below(max_drafts);
    }
    const RatioTable table(p, q);
    const SmallDistributions exact_distributions = served(table, drafts);
    const bool wanted = always_accepts_iid(exact_distributions.target, exact_distributions.proposals.front(), drafts);
    ASSERT_EQ(always_accepts_iid(table, drafts), wanted);
    ASSERT_EQ(always_accepts(*registry().drafter("iid"), table, drafts), wanted);
    always += wanted;
  }
  EXPECT_GT(always, 1000);
  EXPECT_GT(thin, 400) << "no instance that doubles would call 1";
}

// S is the heavy token, with p(S) = 1 - n and q(S) = 1 - m in units of 2^-62. p(S) >= q(S)^2 if and only if n <= 2 m -
// m^2 2^-62, with equality at m = 3 2^31 and n = 2 m - 9. Doubles near 1 cannot represent a difference of one unit.
TEST(CertainAcceptance, IsDecidedToTheLastUnit) {
  const double m = 3 * 0x1p31;
  const auto row = [](double light) { return std::vector<double>{1 - light * 0x1p-62, light * 0x1p-62}; };
  const RatioTable touching(row(2 * m - 9), row(m)), beyond(row(2 * m - 8), row(m));
  EXPECT_TRUE(always_accepts_iid(touching, 2));
  EXPECT_FALSE(always_accepts_iid(beyond, 2));
  EXPECT_EQ(iid_optimum(beyond, 2).acceptance, iid_optimum(touching, 2).acceptance);
}

TEST(CertainAcceptance, WithoutReplacementIsWhatAllCutsSayWhereItIsDecided) {
  SmallDistributionsSource source(64);
  const AnyDrafter& drafter = *registry().drafter("without_replacement");
  int decided = 0, always = 0;
  for (int i = 0; i < 1500; ++i) {
    const SmallDistributions distributions = source.next(5, 4, false);
    const RatioTable table = distributions.table();
    const auto found = always_accepts_without_replacement(table, distributions.drafts);
    if (!found) continue;
    const SmallDistributions exact_distributions = served(table, distributions.drafts);
    ASSERT_EQ(*found, always_accepts(exact_distributions.target, exact_distributions.sets(drafter))) << i;
    ++decided;
    always += *found;
  }
  EXPECT_GT(decided, 1000);
  EXPECT_GT(always, 100);
}

TEST(CertainAcceptance, OfAFixedSetIsWhetherItHoldsTheTarget) {
  const AnyDrafter& drafter = *registry().drafter("fixed_top_k");
  const std::vector<double> q{0.5, 0.3, 0.2};
  EXPECT_EQ(always_accepts(drafter, RatioTable(std::vector<double>{0.25, 0.75, 0}, q), 2), true);
  EXPECT_EQ(always_accepts(drafter, RatioTable(std::vector<double>{0.25, 0.75 - 0x1p-50, 0x1p-50}, q), 2), false);
}

using Row = std::vector<Rational>;

TEST(KSeqRoot, IsFourThirdsByHand) {
  const Row p{{5, 9}, {4, 9}}, q{{1, 3}, {2, 3}};
  EXPECT_EQ(acceptance::excess<Rational>(p, q, 2, Rational(4, 3)), 0);
  EXPECT_EQ(acceptance::compare_with_k_seq(Rational(8, 9), p, q, 2), 0);
  const Rational little(1, 1'000'000'000'000);
  EXPECT_EQ(acceptance::compare_with_k_seq(Rational(8, 9) - little, p, q, 2), -1);
  EXPECT_EQ(acceptance::compare_with_k_seq(Rational(8, 9) + little, p, q, 2), 1);
}

// If F is constant from some b on, larger factors than K-SEQ's root give the same acceptance as the root. The
// comparison with this acceptance must give equality.
TEST(KSeqRoot, EqualityWhereTheCurveIsFlat) {
  const Row half{{1, 2}, {1, 2}};
  EXPECT_EQ(acceptance::compare_with_k_seq<Rational>(1, half, half, 3), 0) << "p = q: the root is 1";
  EXPECT_EQ(acceptance::compare_with_k_seq(Rational(999, 1000), half, half, 3), -1);
  const Row outside{{1, 4}, {1, 4}, {1, 2}}, inside{{1, 2}, {1, 2}, 0};
  EXPECT_EQ(acceptance::compare_with_k_seq(Rational(1, 2), outside, inside, 3), 0) << "all of p on the support of q";
  EXPECT_EQ(acceptance::compare_with_k_seq(Rational(51, 100), outside, inside, 3), 1);
  EXPECT_EQ(acceptance::compare_with_k_seq(Rational(49, 100), outside, inside, 3), -1);
  EXPECT_EQ(acceptance::compare_with_k_seq<Rational>(0, {0, 1}, {1, 0}, 2), 0) << "disjoint: both 0";
  EXPECT_EQ(acceptance::compare_with_k_seq(Rational(1, 9), {0, 1}, {1, 0}, 2), 1);
}

// The root computed in double has an error below 1e-12 (V <= 8 terms, a slope of at most 1), so fractions 1e-9 away
// from it must compare as less and greater.
RC_GTEST_PROP(KSeqRoot, SignOfANeighbouringFraction, (const Instance& instance)) {
  const Row p = normalised(instance.target), q = normalised(instance.proposals.front());
  const double accepted = acceptance::k_seq(exact::as_doubles(p), exact::as_doubles(q), instance.drafts);
  const Rational near(accepted), step(1, 1'000'000'000);
  RC_ASSERT(acceptance::compare_with_k_seq<Rational>(near + step, p, q, instance.drafts) == 1);
  if (accepted > 1e-9) {
    RC_ASSERT(acceptance::compare_with_k_seq<Rational>(near - step, p, q, instance.drafts) == -1);
  }
}

// With one draft K-SEQ's root is 1, and the acceptance is the sum of min(p, q), a fraction.
RC_GTEST_PROP(KSeqRoot, OneDraftIsEqualToSingleDraft, (const Instance& instance)) {
  const Row p = normalised(instance.target), q = normalised(instance.proposals.front());
  const Rational single = 1 - acceptance::residual_mass<Rational>(p, q, 1);
  RC_ASSERT(acceptance::compare_with_k_seq(single, p, q, 1) == 0);
}

RC_GTEST_PROP(IidScan, FindsTheLeastOfAllCuts, (const Instance& instance)) {
  const Row p = normalised(instance.target), q = normalised(instance.proposals.front());
  const Rows<Rational> rows = instance.rows();
  const auto sets = set_distribution<Rational>([&](Explorer<Rational>& random, Token* out) {
    return registry().drafter("iid")->draw(rows, instance.drafts, random, out);
  });
  RC_ASSERT(acceptance::optimum(p, q, instance.drafts) == cut_optimum<Rational>(p, sets));
}

}  // namespace
}  // namespace draftproof
