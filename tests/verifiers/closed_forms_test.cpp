// The programs against the closed forms of their acceptance, on generated instances, as fractions.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <draftproof/properties/prover/arbitrary.hpp>
#include <draftproof/tests/support/exact.hpp>

namespace draftproof {
namespace {

using exact::law;
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

RC_GTEST_PROP(ClosedForms, SingleDraftAcceptsOneMinusTotalVariation, (const Instance& instance)) {
  const Given at(instance);
  RC_ASSERT(law("single_draft", "iid", at.rows, 1).flag == 1 - total_variation(at.p, at.q));
}

RC_GTEST_PROP(ClosedForms, RecursiveRejectionAcceptsOneMinusTheLastResidual, (const Instance& instance)) {
  const Given at(instance);
  const auto found = law("recursive_rejection", "iid", at.rows, at.drafts);
  RC_ASSERT(found.flag == exact::recursive_rejection(at.p, at.q, at.drafts));
  RC_ASSERT(found.membership == found.flag);
}

RC_GTEST_PROP(ClosedForms, NaiveTree, (const Instance& instance)) {
  const Given at(instance);
  RC_ASSERT(law("naive_tree", "iid", at.rows, at.drafts).flag == exact::naive_tree(at.p, at.q, at.drafts));
}

RC_GTEST_PROP(ClosedForms, SampleAndMatch, (const Instance& instance)) {
  const Given at(instance);
  RC_ASSERT(law("sample_and_match", "iid", at.rows, at.drafts).flag ==
            exact::sample_and_match(at.p, at.q, at.drafts));
}

// For any factor rho >= rho*: beta = sum min(q, p / rho) and the flag is 1 - (1 - beta)^K.
RC_GTEST_PROP(ClosedForms, KSeqAcceptsByItsFactor, (const Instance& instance)) {
  const Given at(instance);
  const Rational rho = verifiers::KSeq{}.prepare(at.rows, at.drafts).factor;
  Rational beta = 0;
  for (std::size_t x = 0; x < at.p.size(); ++x) beta += std::min<Rational>(at.q[x], at.p[x] / rho);
  const Rational refused = exact::power<Rational>(1 - beta, at.drafts);
  RC_ASSERT(law("k_seq", "iid", at.rows, at.drafts).flag == 1 - refused);
  // The factor is valid: the drafts have (1 - refused) / beta of min(q, p / rho), at most rho of it.
  RC_ASSERT(1 - refused <= rho * beta);
}

// The bracket of the bisection has width (K - 1) 2^-12, so the factor is within it of the root; F falls by at most
// q's mass, 1, per unit of rho.
RC_GTEST_PROP(ClosedForms, KSeqFactorIsNextToTheRoot, (const Instance& instance)) {
  const Given at(instance);
  const Rational rho = verifiers::KSeq{}.prepare(at.rows, at.drafts).factor;
  const Rational below = rho - Rational(at.drafts - 1, 4096);
  if (below < 1) return;
  const Rational mass = exact::residual_mass(at.p, at.q, below);
  RC_ASSERT(exact::power<Rational>(1 - (1 - mass) / below, at.drafts) <= mass);
}

// In double the bisection ends at neighbouring numbers. F(rho*) then has the rounding of a sum of V <= 8 terms at
// most 1 on both sides, V 2^-53 each, the last step of rho (K 2^-53), and the slope 1 between two roots moved by such
// errors: 40 * 2^-53.
RC_GTEST_PROP(ClosedForms, KSeqReachesItsRootInDouble, (const Instance& instance)) {
  const auto p = exact::as_doubles(normalised(instance.target));
  const auto q = exact::as_doubles(normalised(instance.proposals.front()));
  const auto plan = verifiers::KSeq{}.prepare(Rows<double>(p, q), instance.drafts);
  const double accepted = 1 - exact::residual_mass(p, q, plan.factor);
  RC_ASSERT(std::abs(accepted - exact::k_seq(p, q, instance.drafts)) <= 40 * 0x1p-53);
  RC_ASSERT(plan.served <= plan.factor);
}

// K = 2 without replacement: 1 - E[F(b_3)] with b_3 = 1 + F(1) / (1 - q(x_1)), x_1 from the drafts that are refused,
// (q - p)+ / F(1); where q has nothing but x_1, F takes its limit p(q = 0).
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
  RC_ASSERT(law("recursive_rejection_wor", "without_replacement", at.rows, 2).flag == 1 - missed);
}

}  // namespace
}  // namespace draftproof
