// The search over all pairs of laws finds known minima, also on ridges, and the result does not depend on the
// threads.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/studies/pair_search.hpp>
#include <draftproof/studies/worst_families.hpp>

namespace draftproof {
namespace {

// A valley along p_0 = q_0^2, where every move of a single coordinate increases the value.
double ridge(const std::vector<double>& p, const std::vector<double>& q) {
  return 10 * std::abs(p[0] - q[0] * q[0]) + std::abs(q[0] - std::sqrt(0.3));
}

TEST(PairSearch, FollowsARidgeToItsEnd) {
  const LeastPair found = least_pair(ridge, 2, 8, {});
  ASSERT_TRUE(found.complete);
  // Of 200 rounds some 70 go down to the smallest step; a start that ends early is beaten by another.
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
  StudyOptions options;
  options.stop = &stop;
  EXPECT_FALSE(least_pair(ridge, 3, 12, options).complete);
}

// K = 2 and 3 by hand: 2/3 and (3 + 6 sqrt 6) / 23.
TEST(WorstFamilies, MinimisersOfKSeqByHand) {
  EXPECT_NEAR(worst::k_seq(2).q, 2.0 / 3, 1e-15);
  EXPECT_NEAR(worst::k_seq(2).acceptance, 8.0 / 9, 1e-15);
  EXPECT_NEAR(worst::k_seq(3).q, (3 + 6 * std::sqrt(6.0)) / 23, 1e-14);
  // The minimum approaches its limit like 1 / K: at 10^6 within 1e-6.
  EXPECT_NEAR(worst::k_seq(1'000'000).acceptance, worst::k_seq_limit(), 1e-6);
  EXPECT_NEAR(worst::recursive_rejection(1'000'000).acceptance, 0.75, 1e-6);
}

}  // namespace
}  // namespace draftproof
