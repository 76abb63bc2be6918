// Comparison with K-SEQ's acceptance at its root, and the scan for the optimum, in fractions.
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <draftproof/optimum/k_seq_root.hpp>
#include <draftproof/optimum/set_law.hpp>
#include <draftproof/properties/prover/arbitrary.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {
namespace {

using Row = std::vector<Rational>;

struct Given {
  explicit Given(const Instance& instance)
      : p(normalised(instance.target)), q(normalised(instance.proposals.front())), drafts(instance.drafts) {
    for (const Rational& value : p) p_double.push_back(static_cast<double>(value));
    for (const Rational& value : q) q_double.push_back(static_cast<double>(value));
  }
  Row p, q;
  int drafts;
  std::vector<double> p_double, q_double;
};

TEST(KSeqRoot, IsFourThirdsByHand) {
  const Row p{{5, 9}, {4, 9}}, q{{1, 3}, {2, 3}};
  EXPECT_EQ(acceptance::excess<Rational>(p, q, 2, Rational(4, 3)), 0);
  EXPECT_EQ(acceptance::compare_with_k_seq(Rational(8, 9), p, q, 2), 0);
  const Rational little(1, 1'000'000'000'000);
  EXPECT_EQ(acceptance::compare_with_k_seq(Rational(8, 9) - little, p, q, 2), -1);
  EXPECT_EQ(acceptance::compare_with_k_seq(Rational(8, 9) + little, p, q, 2), 1);
}

// Where F is constant from some b on, roots and other factors accept the same; equality must be seen across them.
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

// Against the root found in double: it errs by less than 1e-12 (V <= 8 terms, a slope of at most 1), so that a
// fraction 1e-9 away is on the right side.
RC_GTEST_PROP(KSeqRoot, SignOfANeighbouringFraction, (const Instance& instance)) {
  const Given at(instance);
  const double accepted = acceptance::k_seq(at.p_double, at.q_double, at.drafts);
  const Rational near(accepted), step(1, 1'000'000'000);
  RC_ASSERT(acceptance::compare_with_k_seq<Rational>(near + step, at.p, at.q, at.drafts) == 1);
  if (accepted > 1e-9) {
    RC_ASSERT(acceptance::compare_with_k_seq<Rational>(near - step, at.p, at.q, at.drafts) == -1);
  }
}

// One draft: the root is 1, the acceptance sum min(p, q), a fraction.
RC_GTEST_PROP(KSeqRoot, OneDraftIsEqualToSingleDraft, (const Instance& instance)) {
  const Given at(instance);
  const Rational single = 1 - acceptance::residual_mass<Rational>(at.p, at.q, 1);
  RC_ASSERT(acceptance::compare_with_k_seq(single, at.p, at.q, 1) == 0);
}

RC_GTEST_PROP(IidScan, FindsTheLeastOfAllCuts, (const Instance& instance)) {
  const Given at(instance);
  const Rows<Rational> rows = instance.rows();
  const auto sets = set_law<Rational>([&](Explorer<Rational>& random, Token* out) {
    return registry().drafter("iid")->draw(rows, at.drafts, random, out);
  });
  RC_ASSERT(acceptance::optimum(at.p, at.q, at.drafts) == cut_optimum<Rational>(at.p, sets));
}

}  // namespace
}  // namespace draftproof
