// Tests that the search for counterexamples finds known counterexamples and can be stopped, and that the search over
// all pairs of distributions finds known minima, also along a narrow valley.
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include <draftproof/bench/studies/order_search.hpp>
#include <draftproof/bench/studies/worst_pairs.hpp>

namespace draftproof {
namespace {

TEST(OrderSearch, FalseClaimsAreRefutedBySmallInstances) {
  const std::vector<OrderClaim> wrong{{Scheme::recursive_rejection, Scheme::naive_tree, false},
                                      {Scheme::optimum_iid, Scheme::k_seq, false},
                                      {Scheme::k_seq, Scheme::recursive_rejection, false},
                                      {Scheme::recursive_rejection, Scheme::recursive_rejection_distinct, false}};
  const auto search = search_orders(wrong, {}, 3000, {});
  for (std::size_t c = 0; c < wrong.size(); ++c) {
    const OrderTally& tally = search.orders[c];
    ASSERT_GT(tally.greater, 0u) << c;
    const Instance found = Instance::parse(tally.refutation);
    EXPECT_GT(Acceptances(found).compare(wrong[c].lower, wrong[c].upper), 0) << tally.refutation;
    // Each of the wrong claims fails at K = 2, with at most three tokens.
    EXPECT_EQ(found.drafts, 2) << tally.refutation;
    EXPECT_LE(found.vocabulary(), 3) << tally.refutation;
  }
}

TEST(OrderSearch, ARatioIsThatOfItsInstance) {
  const std::vector<OrderClaim> claims{{Scheme::recursive_rejection, Scheme::optimum_iid, true}};
  const auto search = search_orders(claims, {}, 400, {});
  const OrderTally& tally = search.orders.front();
  Acceptances at(Instance::parse(tally.least));
  EXPECT_EQ(tally.ratio, at.approximately(Scheme::recursive_rejection) / at.approximately(Scheme::optimum_iid));
  EXPECT_LT(tally.ratio, 0.9);
  EXPECT_EQ(tally.tried(), 400u);
}

TEST(OrderSearch, TheSeedCounts) {
  const auto less = [](std::uint64_t seed) {
    std::vector<std::uint64_t> all;
    for (const OrderTally& tally : search_orders(order_claims, {}, 300, {.seed = seed}).orders)
      all.push_back(tally.less);
    return all;
  };
  EXPECT_NE(less(1), less(2));
}

TEST(OrderSearch, StopsWhenTold) {
  std::atomic<bool> stop{false};
  StudyOptions options;
  options.stop = &stop;
  options.progress = [&](std::uint64_t, std::uint64_t) { stop = true; };
  const auto search = search_orders({order_claims.front()}, {}, 1'000'000'000, options);
  EXPECT_FALSE(search.complete);
  EXPECT_GT(search.instances, 0u);
  EXPECT_LT(search.instances, 100'000u);
}

TEST(OrderInstances, AreDistributionsOfAllFamiliesAndSizes) {
  std::set<int> sizes, drafts;
  for (std::uint64_t n = 0; n < 2000; ++n) {
    const Instance instance = order_instance(1, n);
    ASSERT_TRUE(instance.valid()) << n;
    sizes.insert(instance.vocabulary());
    drafts.insert(instance.drafts);
  }
  EXPECT_EQ(sizes, (std::set<int>{2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(drafts, (std::set<int>{1, 2, 3, 4}));
}

// In a tight pair, p(S) = q(S)^K for every set S of the first tokens.
TEST(OrderInstances, TightOnesAttainTheOptimumAtEveryPrefix) {
  for (std::uint64_t n = 0; n < 50; ++n) {
    InstanceRng dice(1, n);
    const int drafts = 1 + static_cast<int>(n % 4);
    const WeightPair pair = tight_pair(dice, 4, drafts);
    const auto p = normalised(pair.target), q = normalised(pair.proposal);
    Rational target = 0, proposal = 0;
    for (std::size_t x = 0; x < 4; ++x) {
      target += p[x];
      proposal += q[x];
      Rational power = 1;
      for (int k = 0; k < drafts; ++k) power *= proposal;
      ASSERT_EQ(target, power) << n;
    }
  }
}

// Returns a function with a valley along p_0 = q_0^2. In the valley, every change of a single coordinate increases the
// value.
double ridge(const std::vector<double>& p, const std::vector<double>& q) {
  return 10 * std::abs(p[0] - q[0] * q[0]) + std::abs(q[0] - std::sqrt(0.3));
}

TEST(PairSearch, FollowsARidgeToItsEnd) {
  const LeastPair found = least_pair(ridge, 2, 8, {});
  ASSERT_TRUE(found.complete);
  // The search has several starting points, so one that ends early does not change the minimum.
  EXPECT_LT(found.value, 1e-6);
  EXPECT_NEAR(found.p[0], 0.3, 1e-6);
}

TEST(PairSearch, SameForAnyNumberOfThreads) {
  StudyOptions options;
  options.threads = 1;
  const LeastPair one = least_pair(ridge, 3, 4, options);
  for (const int threads : {2, 7}) {
    options.threads = threads;
    const LeastPair again = least_pair(ridge, 3, 4, options);
    EXPECT_EQ(again.value, one.value);
    EXPECT_EQ(again.p, one.p);
    EXPECT_EQ(again.q, one.q);
  }
}

TEST(PairSearch, StopsWhenTold) {
  const std::atomic<bool> stop{true};
  EXPECT_FALSE(least_pair(ridge, 3, 12, {.stop = &stop}).complete);
}

// Computed by hand, the minimisers for K = 2 and 3 are 2/3 and (3 + 6 sqrt 6) / 23.
TEST(WorstFamilies, MinimisersOfKSeqByHand) {
  EXPECT_NEAR(worst::k_seq(2).q, 2.0 / 3, 1e-15);
  EXPECT_NEAR(worst::k_seq(2).acceptance, 8.0 / 9, 1e-15);
  EXPECT_NEAR(worst::k_seq(3).q, (3 + 6 * std::sqrt(6.0)) / 23, 1e-14);
  // The minimum approaches its limit like 1 / K: at 10^6 it is within 1e-6.
  EXPECT_NEAR(worst::k_seq(1'000'000).acceptance, worst::k_seq_limit(), 1e-6);
  EXPECT_NEAR(worst::recursive_rejection(1'000'000).acceptance, 0.75, 1e-6);
}

}  // namespace
}  // namespace draftproof
