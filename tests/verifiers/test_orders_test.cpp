// Drafts of different proposals tested in other orders: every order fixed beforehand is lossless, a random one
// accepts the mean over all of them, and one that depends on the tokens is not lossless.
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <draftproof/properties/prover/arbitrary.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/tests/support/exact.hpp>
#include <draftproof/verifiers/recursive_rejection_independent.hpp>

namespace draftproof {
namespace {

using exact::Row;

ExactLaw<Rational> law_in_order(const std::vector<int>& order, const Rows<Rational>& rows, int drafts) {
  const VerifierOf<verifiers::RecursiveRejectionIndependent> scheme(Kind::verifier, {.order = order});
  return explore_law(*registry().drafter("independent"), *scheme.prove_on(rows, drafts), rows, drafts);
}

ExactLaw<Rational> law_of(std::string_view scheme, const std::string& instance) {
  const Instance at = Instance::parse(instance);
  return exact::law(scheme, "independent", at.rows(), at.drafts);
}

/// Makes every row of a generated instance a proposal of its own: q, p reversed, q rotated.
Rows<Rational> several(const Instance& instance) {
  const Row p = normalised(instance.target), q = normalised(instance.proposals.front());
  Row reversed(p.rbegin(), p.rend()), rotated = q;
  std::rotate(rotated.begin(), rotated.begin() + 1, rotated.end());
  return {p, std::vector<Row>{q, reversed, rotated}};
}

RC_GTEST_PROP(TestOrders, EveryFixedOrderServesTheTargetAndARandomOneAcceptsTheirMean, (const Instance& instance)) {
  RC_PRE(instance.vocabulary() <= 4);
  const auto rows = several(instance);
  const Row p = normalised(instance.target);
  std::vector<int> order{0, 1, 2};
  Rational mean = 0;
  do {
    const auto law = law_in_order(order, rows, 3);
    RC_ASSERT(law.output == p);
    RC_ASSERT(law.flag == law.membership);
    mean += law.flag / 6;
  } while (std::next_permutation(order.begin(), order.end()));
  const auto random = exact::law("recursive_rejection_random_order", "independent", rows, 3);
  RC_ASSERT(random.output == p);
  RC_ASSERT(random.flag == mean);
}

TEST(TestOrders, AnOrderNamesWhatItLikesFirst) {
  const auto rows = Instance::parse("p=(5 3 2)/10 q=(2 5 3)/10 q=(3 1 1)/5 q=(1 1 8)/10 K=3").rows();
  const auto all = law_in_order({2, 0, 1}, rows, 3);
  EXPECT_EQ(law_in_order({2}, rows, 3).flag, all.flag) << "the others follow in draw order";
  EXPECT_EQ(law_in_order({7, 2, 2, -1, 0}, rows, 3).flag, all.flag) << "drafts that are not there are passed over";
  EXPECT_EQ(law_in_order({}, rows, 3).flag, law_in_order({0, 1, 2}, rows, 3).flag);
  EXPECT_NE(law_in_order({}, rows, 3).flag, all.flag);
  EXPECT_EQ(law_in_order({2, 0, 1}, rows, 2).flag, law_in_order({0, 1}, rows, 2).flag) << "with fewer drafts too";
}

TEST(TestOrders, OneDraftMoreCanCostARandomOrderAcceptance) {
  EXPECT_EQ(law_of("recursive_rejection_random_order", "p=(3 1)/4 q=(3 2)/5 K=1").flag, Rational(17, 20));
  EXPECT_EQ(law_of("recursive_rejection_random_order", "p=(3 1)/4 q=(3 2)/5 q=(1 3)/4 K=2").flag, Rational(27, 32));
}

TEST(TestOrders, WhatHidesAnOrderMadeFromTheTokens) {
  const auto output = [](const std::string& instance) { return law_of("best_ratio_first", instance).output; };
  EXPECT_EQ(output("p=(1 2 1)/4 q=(1 2 1)/4 q=(1 2 1)/4 K=2"), normalised(std::vector{1, 2, 1})) << "all equal to p";
  EXPECT_EQ(output("p=(1 1)/2 q=(2 1)/3 K=1"), normalised(std::vector{1, 1})) << "a single draft";
  EXPECT_EQ(output("p=(1 1)/2 q=(1 1)/2 q=(2 1)/3 K=2"), (Row{{1, 3}, {2, 3}}));
  EXPECT_NE(output("p=(1 1 1)/3 q=(1 2 1)/4 q=(1 2 1)/4 K=2"), normalised(std::vector{1, 1, 1}))
      << "identical proposals do not";
}

TEST(TestOrders, IdenticalProposalsHideAWrongPairing) {
  for (const std::string_view wrong : {"crossed_proposals", "independent_verified_as_iid"}) {
    EXPECT_EQ(law_of(wrong, "p=(1 1 1)/3 q=(1 2 1)/4 q=(1 2 1)/4 K=2").output, normalised(std::vector{1, 1, 1}));
    EXPECT_EQ(law_of(wrong, "p=(1 1 1)/3 q=(1 2 1)/4 K=1").output, normalised(std::vector{1, 1, 1}));
    EXPECT_NE(law_of(wrong, "p=(1 1 1)/3 q=(1 2 1)/4 q=(2 1 1)/4 K=2").output, normalised(std::vector{1, 1, 1}));
  }
}

}  // namespace
}  // namespace draftproof
