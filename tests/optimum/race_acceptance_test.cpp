// Tests of the acceptance of couplings: reference values, and inequalities in fractions.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/optimum/race_acceptance.hpp>
#include <draftproof/properties/simulation/sampling_optimum.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/tests/support/golden.hpp>
#include <draftproof/tests/support/random_distributions.hpp>

namespace draftproof {
namespace {

using namespace acceptance;

/// The tolerance that tests/golden/README.md states. The finite sums have at most 200 terms, each a coefficient below 1
/// over a rate above 1 with a few roundings: 200 * 8 * 2^-53 = 2e-13.
constexpr double race_tolerance = 1e-12;

TEST(RaceAcceptance, EveryReferenceCase) {
  std::map<std::string, int> compared;
  double largest = 0;
  const auto expect = [&](const golden::Case& c, double found, double wanted) {
    EXPECT_NEAR(found, wanted, race_tolerance) << c.id;
    largest = std::max(largest, std::abs(found - wanted));
  };
  for (const golden::Case& c : golden::cases()) {
    const auto& q = c.q.front();
    if (c.scheme == "gls") {
      expect(c, gls_exact(c.p, q, c.drafts), c.draft_emitted);
      expect(c, list_bound(c.p, q, c.drafts), c.lower_bound);
      if (c.drafts == 1) expect(c, gumbel(c.p, q), c.draft_emitted);
    } else if (c.scheme == "gumbel_topk") {
      expect(c, shared_race_exact(c.p, q, c.drafts), c.draft_emitted);
    } else {
      continue;
    }
    ++compared[c.scheme + "/" + c.draft_sampling];
  }
  std::cout << "largest deviation " << largest << '\n';
  EXPECT_EQ(compared, (std::map<std::string, int>{{"gls/iid", 69}, {"gumbel_topk/wor_stop", 46}}));
}

TEST(RaceAcceptance, ByHand) {
  // p = (7 3)/10, q = (4 6)/10. For example, token 0 wins the races of both p and q on one stream of noise with
  // probability 7/13.
  const std::vector<Rational> p{Rational(7, 10), Rational(3, 10)}, q{Rational(2, 5), Rational(3, 5)};
  EXPECT_EQ(gumbel(p, q), Rational(7, 10) / (Rational(7, 10) + Rational(21, 20)) + Rational(3, 10));
  EXPECT_EQ(gls_exact(p, q, 2), Rational(469, 550));
  EXPECT_EQ(shared_race_exact(p, q, 2), 1);
  EXPECT_EQ(minhash(p, q), (Rational(7, 10) + Rational(3, 10) * Rational(2, 5) + Rational(3, 10) * Rational(3, 10)) /
                               Rational(13, 10));
}

/// Tests equalities and inequalities in fractions on random distributions.
TEST(RaceAcceptance, KnownOrders) {
  SmallDistributionsSource source(51);
  const AnyDrafter &races = *registry().drafter("gumbel_iid"), &gumbel_top_k = *registry().drafter("gumbel_top_k");
  int strictly_more = 0;
  for (int i = 0; i < 400; ++i) {
    const SmallDistributions distributions = source.next(5, 3, false);
    const auto &p = distributions.target, &q = distributions.proposals.front();
    const int drafts = distributions.drafts;
    const Rational list = gls_exact(p, q, drafts), race = shared_race_exact(p, q, drafts), one = gumbel(p, q);
    ASSERT_GE(list, list_bound(p, q, drafts));
    ASSERT_GE(list, sample_and_match(p, q, drafts));
    ASSERT_LE(list, cut_optimum<Rational>(p, distributions.sets(races)));
    ASSERT_LE(race, cut_optimum<Rational>(p, distributions.sets(gumbel_top_k)));
    ASSERT_GE(race, list);
    strictly_more += race > list;
    ASSERT_EQ(gls_exact(p, q, 1), one);
    ASSERT_EQ(shared_race_exact(p, q, 1), one);
    if (drafts > 1) {
      ASSERT_GE(list, gls_exact(p, q, drafts - 1));
      ASSERT_GE(race, shared_race_exact(p, q, drafts - 1));
    }
    Rational overlap = 0;
    for (std::size_t x = 0; x < p.size(); ++x) overlap += std::min(p[x], q[x]);
    // The probability that the first dart below p or q is below both is (1 - TV) / (1 + TV).
    const Rational same_dart = overlap / (2 - overlap);
    ASSERT_GE(one, same_dart);
    ASSERT_GE(minhash(p, q), same_dart);
    ASSERT_LE(one, overlap) << "no coupling of two distributions does better";
    ASSERT_LE(minhash(p, q), overlap);
  }
  EXPECT_GT(strictly_more, 100);
}

TEST(RaceAcceptance, OneForEqualDistributionsAndZeroForDisjointOnes) {
  const std::vector<Rational> p{Rational(1, 6), Rational(1, 3), Rational(1, 2), 0};
  const std::vector<Rational> left{Rational(1, 3), Rational(2, 3), 0, 0}, right{0, 0, Rational(1, 4), Rational(3, 4)};
  for (const int drafts : {1, 2, 3}) {
    EXPECT_EQ(gls_exact(p, p, drafts), 1);
    EXPECT_EQ(shared_race_exact(p, p, drafts), 1);
    EXPECT_EQ(list_bound(p, p, drafts), 1);
    EXPECT_EQ(gls_exact(left, right, drafts), 0);
    EXPECT_EQ(shared_race_exact(left, right, drafts), 0);
    // With at least as many drafts as q has tokens, every token of q is drafted.
    EXPECT_EQ(shared_race_exact(p, right, 2 + drafts), Rational(1, 2));
  }
  EXPECT_EQ(minhash(p, p), 1);
  EXPECT_EQ(minhash(left, right), 0);
}

}  // namespace
}  // namespace draftproof
