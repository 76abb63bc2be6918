// Tests of the exact acceptance of verifiers: the acceptance equals closed forms on generated instances, and numbers of
// another program; studies compare closed forms with published numbers. Also tests the order in which drafts are
// tested: every fixed order is lossless, a random order accepts the mean over all orders, and an order that depends on
// the tokens is not lossless.
#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/properties/prover/arbitrary.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/tests/support/exact.hpp>
#include <draftproof/verifiers/recursive_rejection_independent.hpp>

namespace draftproof {
namespace {

using exact::distribution;
using exact::Row;

struct Given {
  explicit Given(const Instance& instance)
      : rows(instance.rows()),
        p(normalised(instance.target)),
        q(normalised(instance.proposals.front())),
        drafts(instance.drafts) {}
  Rows<Rational> rows;
  Row p, q;
  int drafts;
};

RC_GTEST_PROP(ClosedForms, OfIidDrafts, (const Instance& instance)) {
  const Given at(instance);
  RC_ASSERT(distribution("single_draft", "iid", at.rows, 1).draft_accepted == 1 - total_variation(at.p, at.q));
  const auto rejection = distribution("recursive_rejection", "iid", at.rows, at.drafts);
  RC_ASSERT(rejection.draft_accepted == exact::recursive_rejection(at.p, at.q, at.drafts));
  RC_ASSERT(rejection.draft_emitted == rejection.draft_accepted);
  RC_ASSERT(distribution("naive_tree", "iid", at.rows, at.drafts).draft_accepted ==
            exact::naive_tree(at.p, at.q, at.drafts));
  RC_ASSERT(distribution("sample_and_match", "iid", at.rows, at.drafts).draft_accepted ==
            exact::sample_and_match(at.p, at.q, at.drafts));
}

// For any factor rho >= rho* (the root, the least valid factor), K-SEQ accepts with probability 1 - (1 - beta)^K, where
// beta = sum min(q, p / rho).
RC_GTEST_PROP(ClosedForms, KSeqAcceptsByItsFactor, (const Instance& instance)) {
  const Given at(instance);
  const Rational rho = verifiers::KSeq{}.prepare(at.rows, at.drafts).factor;
  Rational beta = 0;
  for (std::size_t x = 0; x < at.p.size(); ++x) beta += std::min<Rational>(at.q[x], at.p[x] / rho);
  const Rational refused = exact::power<Rational>(1 - beta, at.drafts);
  RC_ASSERT(distribution("k_seq", "iid", at.rows, at.drafts).draft_accepted == 1 - refused);
  // The inequality makes rho a valid factor: K-SEQ accepts token x with probability (1 - refused) / beta min(q(x), p(x)
  // / rho), which must be at most p(x).
  RC_ASSERT(1 - refused <= rho * beta);
}

// The bisection ends with a bracket of width (K - 1) 2^-12, so the factor minus this width is at most the root. For
// factors up to the root, the residual mass F is at least the probability that all drafts are rejected.
RC_GTEST_PROP(ClosedForms, KSeqFactorIsNextToTheRoot, (const Instance& instance)) {
  const Given at(instance);
  const Rational rho = verifiers::KSeq{}.prepare(at.rows, at.drafts).factor;
  const Rational below = rho - Rational(at.drafts - 1, 4096);
  if (below < 1) return;
  const Rational mass = exact::residual_mass(at.p, at.q, below);
  RC_ASSERT(exact::power<Rational>(1 - (1 - mass) / below, at.drafts) <= mass);
}

// In double, the bisection ends at neighbouring numbers. The two sides of the comparison differ by the roundings of
// their sums of V <= 8 terms of at most 1, V 2^-53 on each side, by the last step of rho, K 2^-53, and by a shift of
// the root by these two errors, where F has slope at most 1: 40 * 2^-53 in all.
RC_GTEST_PROP(ClosedForms, KSeqReachesItsRootInDouble, (const Instance& instance)) {
  const auto p = exact::as_doubles(normalised(instance.target));
  const auto q = exact::as_doubles(normalised(instance.proposals.front()));
  const auto plan = verifiers::KSeq{}.prepare(Rows<double>(p, q), instance.drafts);
  const double accepted = 1 - exact::residual_mass(p, q, plan.factor);
  RC_ASSERT(std::abs(accepted - exact::k_seq(p, q, instance.drafts)) <= 40 * 0x1p-53);
  RC_ASSERT(plan.served <= plan.factor);
}

// K = 2 without replacement accepts 1 - E[F(b_3)] with b_3 = 1 + F(1) / (1 - q(x_1)), where the rejected first draft
// x_1 has distribution (q - p)+ / F(1). If q(x_1) = 1, b_3 is infinite and F(b_3) is the limit of F, the mass of p
// where q = 0.
RC_GTEST_PROP(ClosedForms, RecursiveRejectionWithoutReplacementOfTwoDrafts, (const Instance& instance)) {
  const Given at(instance);
  const Rational refused = exact::residual_mass<Rational>(at.p, at.q, 1);
  Rational missed = 0;
  for (std::size_t x = 0; x < at.p.size(); ++x) {
    const Rational share = std::max<Rational>(at.q[x] - at.p[x], 0);
    if (share == 0) continue;
    Rational last = 0;
    if (at.q[x] == 1) {
      for (std::size_t y = 0; y < at.p.size(); ++y) last += at.q[y] == 0 ? at.p[y] : Rational(0);
    } else {
      last = exact::residual_mass<Rational>(at.p, at.q, 1 + refused / (1 - at.q[x]));
    }
    missed += share / refused * last;
  }
  RC_ASSERT(distribution("recursive_rejection_wor", "without_replacement", at.rows, 2).draft_accepted == 1 - missed);
}

std::vector<double> zipf(int vocabulary, double exponent) {
  std::vector<double> row;
  double sum = 0;
  for (int i = 0; i < vocabulary; ++i) sum += row.emplace_back(std::pow(i + 1, -exponent));
  for (double& weight : row) weight /= sum;
  return row;
}

struct Curves {
  std::vector<double> p, q;
  std::vector<double> optimum, k_seq, rejection, match;  ///< at K = 1, 2, 4, 8
};

// Another program computed these numbers by an enumeration, with six digits. The numbers test ratio tables at sizes at
// which the enumeration of this repository takes too long.
TEST(PublishedNumbers, CurvesInTheNumberOfDrafts) {
  constexpr double printed = 0.5e-6;
  const std::vector<Curves> published{{{.25, .75},
                                       {.75, .25},
                                       {.5, .6875, .933594, 1},
                                       {.5, .648268, .829887, .962963},
                                       {.5, .625, .789062, .933258},
                                       {.375, .5625, .761719, .924911}},
                                      {zipf(16, 0),
                                       zipf(16, 1),
                                       {.633762, .849285, 1, 1},
                                       {.633762, .779562, .898896, .971754},
                                       {.633762, .751131, .853170, .926064},
                                       {.0625, .116336, .205265, .337006}},
                                      {zipf(16, 1),
                                       zipf(16, 0),
                                       {.633762, .790684, .931730, 1},
                                       {.633762, .740690, .841392, .917945},
                                       {.633762, .713880, .792497, .865512},
                                       {.0625, .121094, .227524, .403281}},
                                      {zipf(100, 1.2),
                                       zipf(100, .8),
                                       {.749676, .951272, 1, 1},
                                       {.749676, .862626, .946571, .991929},
                                       {.749676, .831318, .900582, .949547},
                                       {.055785, .106340, .193995, .327788}}};
  for (const Curves& c : published)
    for (std::size_t i = 0; i < 4; ++i) {
      const int drafts = 1 << i;
      const RatioTable table(c.p, c.q);
      EXPECT_NEAR(iid_optimum(table, drafts).acceptance, c.optimum[i], printed) << drafts;
      EXPECT_NEAR(1 - table.residual_mass(verifiers::KSeq{}.prepare(table, drafts).factor), c.k_seq[i], printed)
          << drafts;
      double b = 0;
      for (int k = 0; k < drafts; ++k) b += table.residual_mass(b);
      EXPECT_NEAR(1 - table.residual_mass(b), c.rejection[i], printed) << drafts;
      EXPECT_NEAR(exact::sample_and_match(c.p, c.q, drafts), c.match[i], printed) << drafts;
    }
}

ExactDistribution<Rational> distribution_in_order(const std::vector<int>& order, const Rows<Rational>& rows,
                                                  int drafts) {
  const VerifierOf<verifiers::RecursiveRejectionIndependent> scheme(Kind::verifier, {.order = order});
  return explore_distribution(*registry().drafter("independent"), *scheme.prove_on(rows, drafts), rows, drafts);
}

ExactDistribution<Rational> distribution_of(std::string_view scheme, const std::string& instance) {
  const Instance at = Instance::parse(instance);
  return exact::distribution(scheme, "independent", at.rows(), at.drafts);
}

/// Returns an instance's target with three proposals: q, p reversed, and q rotated.
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
    const auto distribution = distribution_in_order(order, rows, 3);
    RC_ASSERT(distribution.output == p);
    RC_ASSERT(distribution.draft_accepted == distribution.draft_emitted);
    mean += distribution.draft_accepted / 6;
  } while (std::next_permutation(order.begin(), order.end()));
  const auto random = exact::distribution("recursive_rejection_random_order", "independent", rows, 3);
  RC_ASSERT(random.output == p);
  RC_ASSERT(random.draft_accepted == mean);
}

TEST(TestOrders, AnOrderNamesWhatItLikesFirst) {
  const auto rows = Instance::parse("p=(5 3 2)/10 q=(2 5 3)/10 q=(3 1 1)/5 q=(1 1 8)/10 K=3").rows();
  const auto all = distribution_in_order({2, 0, 1}, rows, 3);
  EXPECT_EQ(distribution_in_order({2}, rows, 3).draft_accepted, all.draft_accepted)
      << "the others follow in draw order";
  EXPECT_EQ(distribution_in_order({7, 2, 2, -1, 0}, rows, 3).draft_accepted, all.draft_accepted)
      << "drafts that are not there are passed over";
  EXPECT_EQ(distribution_in_order({}, rows, 3).draft_accepted,
            distribution_in_order({0, 1, 2}, rows, 3).draft_accepted);
  EXPECT_NE(distribution_in_order({}, rows, 3).draft_accepted, all.draft_accepted);
  EXPECT_EQ(distribution_in_order({2, 0, 1}, rows, 2).draft_accepted,
            distribution_in_order({0, 1}, rows, 2).draft_accepted)
      << "with fewer drafts too";
}

TEST(TestOrders, OneDraftMoreCanCostARandomOrderAcceptance) {
  EXPECT_EQ(distribution_of("recursive_rejection_random_order", "p=(3 1)/4 q=(3 2)/5 K=1").draft_accepted,
            Rational(17, 20));
  EXPECT_EQ(distribution_of("recursive_rejection_random_order", "p=(3 1)/4 q=(3 2)/5 q=(1 3)/4 K=2").draft_accepted,
            Rational(27, 32));
}

TEST(TestOrders, WhatHidesAnOrderMadeFromTheTokens) {
  const auto output = [](const std::string& instance) {
    return distribution_of("best_ratio_first", instance).output;
  };
  EXPECT_EQ(output("p=(1 2 1)/4 q=(1 2 1)/4 q=(1 2 1)/4 K=2"), normalised(std::vector{1, 2, 1})) << "all equal to p";
  EXPECT_EQ(output("p=(1 1)/2 q=(2 1)/3 K=1"), normalised(std::vector{1, 1})) << "a single draft";
  EXPECT_EQ(output("p=(1 1)/2 q=(1 1)/2 q=(2 1)/3 K=2"), (Row{{1, 3}, {2, 3}}));
  EXPECT_NE(output("p=(1 1 1)/3 q=(1 2 1)/4 q=(1 2 1)/4 K=2"), normalised(std::vector{1, 1, 1}))
      << "identical proposals do not";
}

TEST(TestOrders, IdenticalProposalsHideAWrongPairing) {
  for (const std::string_view wrong : {"crossed_proposals", "independent_verified_as_iid"}) {
    EXPECT_EQ(distribution_of(wrong, "p=(1 1 1)/3 q=(1 2 1)/4 q=(1 2 1)/4 K=2").output,
              normalised(std::vector{1, 1, 1}));
    EXPECT_EQ(distribution_of(wrong, "p=(1 1 1)/3 q=(1 2 1)/4 K=1").output, normalised(std::vector{1, 1, 1}));
    EXPECT_NE(distribution_of(wrong, "p=(1 1 1)/3 q=(1 2 1)/4 q=(2 1 1)/4 K=2").output,
              normalised(std::vector{1, 1, 1}));
  }
}

}  // namespace
}  // namespace draftproof
