// The search for counterexamples finds known ones, gives the same counts for any number of threads and can be
// stopped.
#include <set>

#include <gtest/gtest.h>

#include <draftproof/studies/order_instances.hpp>
#include <draftproof/studies/order_search.hpp>

namespace draftproof {
namespace {

std::string text(const OrderSearch& search) {
  std::string all = std::to_string(search.instances);
  for (const OrderTally& tally : search.orders)
    all += " " + std::to_string(tally.less) + "," + std::to_string(tally.equal) + "," +
           std::to_string(tally.greater) + "," + std::to_string(tally.ratio) + "," + tally.least + "," +
           tally.refutation;
  for (const CrossingTally& tally : search.crossings)
    all += " " + std::to_string(tally.first_more) + "," + std::to_string(tally.equal) + "," +
           std::to_string(tally.second_more);
  return all;
}

TEST(OrderSearch, FalseClaimsAreRefutedBySmallInstances) {
  const std::vector<OrderClaim> wrong{{Scheme::recursive_rejection, Scheme::naive_tree, false},
                                      {Scheme::optimum_iid, Scheme::k_seq, false},
                                      {Scheme::k_seq, Scheme::recursive_rejection, false},
                                      {Scheme::recursive_rejection, Scheme::recursive_rejection_distinct, false}};
  const auto search = search_orders(wrong, {}, 600, {});
  for (std::size_t c = 0; c < wrong.size(); ++c) {
    const OrderTally& tally = search.orders[c];
    ASSERT_GT(tally.greater, 0u) << c;
    const Instance found = Instance::parse(tally.refutation);
    EXPECT_GT(Acceptances(found).compare(wrong[c].lower, wrong[c].upper), 0) << tally.refutation;
    // Each of these fails at K = 2 already, with at most three tokens.
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

TEST(OrderSearch, SameForAnyNumberOfThreads) {
  StudyOptions options;
  options.threads = 1;
  const std::string one = text(search_orders(order_claims, crossing_claims, 300, options));
  for (const int threads : {2, 7}) {
    options.threads = threads;
    EXPECT_EQ(text(search_orders(order_claims, crossing_claims, 300, options)), one) << threads;
  }
  options.seed = 2;
  EXPECT_NE(text(search_orders(order_claims, crossing_claims, 300, options)), one) << "the seed counts";
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

TEST(OrderInstances, AreLawsOfAllFamiliesAndSizes) {
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

// p of every prefix is q of it to the K-th power.
TEST(OrderInstances, TightOnesAttainTheOptimumAtEveryPrefix) {
  for (std::uint64_t n = 0; n < 50; ++n) {
    InstanceRng dice(1, n);
    const int drafts = 1 + static_cast<int>(n % 4);
    const WeightPair pair = order::tight(dice, 4, drafts);
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

}  // namespace
}  // namespace draftproof
