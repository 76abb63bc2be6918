// K-SEQ: tests each draft against p / rho with a common factor rho; if all are rejected, draws from a residual.
//
//   p        at.target(x)                target probability of token x
//   q        at.proposal(x)              probability with which each draft was drawn
//   rho      plan.factor                 division factor, at least the root rho* of gamma(rho) = rho
//   beta     (1 - F(rho)) / rho          sum min(q, p / rho), the probability that one draft passes;
//                                        F(rho) is at.residual_mass(rho), the sum of (p - rho q)+
//   gamma    plan.served                 (1 - (1 - beta)^K) / beta
//
// Cost: one computation of the root per (p, q, K): on fresh rows 3 to 5 passes, with acceptance within 2^-24 of the
// optimal root's (verifiers/rejection/k_seq_root.hpp), elsewhere to the last bit; K flips and one draw per trial.
// Acceptance: 1 - (1 - beta)^K.
// Source: Sun et al. 2023 (SpecTr), arXiv:2310.15141, k-sequential selection.
// Correctness: the drafts emit gamma min(q, p / rho) <= p for every rho with gamma <= rho, so rho is rounded up. At
// rho* itself acceptance never falls as K grows; with a rounded factor it can fall by the rounding, so the scheme
// does not claim more_drafts_never_hurt.
#pragma once

#include <type_traits>

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/k_seq_root.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::verifiers {

struct KSeq {
  static constexpr Info info{
      .name = "k_seq",
      .summary = "accept each i.i.d. draft in turn with min(1, p / (rho q)), with the best common factor rho",
      .source = "Sun et al. 2023 (SpecTr), arXiv:2310.15141",
      .drafts = DraftSamplings{"iid"},
      .claims = {.accepts_equal_distributions = true, .one_draft_is_single_draft = true}};

  /// The factor to use, which must be at least rho*; 0 selects the smallest valid factor.
  double factor = 0;

  template <class Scalar>
  using Plan = CommonFactor<Scalar>;

  template <Distributions L>
  DRAFTPROOF_DEVICE Plan<typename L::Scalar> prepare(const L& distributions, int drafts) const {
    using Scalar = typename L::Scalar;
    if (factor > 0) return {Scalar(factor), served(distributions, Scalar(factor), drafts)};
    if constexpr (FreshDistributions<L>)
      if (distributions.vocabulary() > cheap_pass) return CommonFactorSearch::find(distributions, drafts);
    return smallest(distributions, drafts);
  }

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, const Plan<typename P::Scalar>& plan, R& random) const {
    for (int k = 0; k < at.drafts(); ++k) {
      const Token x = at.draft(k);
      if (random.flip(at.target(x), plan.factor * at.proposal(x))) return accepted(x, k);
    }
    return last_draw(at, random, at.clipped(plan.served, plan.factor));
  }

 private:
  /// Largest V of fresh rows for which bisection is used: its 60 passes are cheap and give the root to the last bit.
  static constexpr int cheap_pass = 1024;

  template <Distributions L>
  DRAFTPROOF_DEVICE static typename L::Scalar served(const L& distributions, const typename L::Scalar& rho,
                                                     int drafts) {
    return served_by<typename L::Scalar>(distributions.one(), rho, distributions.residual_mass(rho), drafts);
  }

  /// Finds the root by bisection on the sign of gamma(rho) - rho, which is >= 0 at 1 and <= 0 at K. The ends of the
  /// bracket are 1 plus multiples of 2^-steps (K - 1). Returns the upper end, which is a valid factor in every scalar
  /// type, because gamma <= rho was computed there.
  template <Distributions L>
  DRAFTPROOF_DEVICE static Plan<typename L::Scalar> smallest(const L& distributions, int drafts) {
    using Scalar = typename L::Scalar;
    Scalar low = distributions.one(), high = Scalar(drafts);
    Scalar served_low = served(distributions, low, drafts), served_high = served(distributions, high, drafts);
    if (!(served_low > low)) return {low, served_low};
    for (int step = 0; step < steps<Scalar>; ++step) {
      const Scalar middle = (low + high) / Scalar(2);
      if (!(low < middle && middle < high)) break;
      const Scalar at_middle = served(distributions, middle, drafts);
      if (at_middle > middle) {
        low = middle;
      } else {
        high = middle;
        served_high = at_middle;
      }
    }
    return {high, served_high};
  }

  /// Number of halvings. In floating point it suffices to reach the last bit of the root. In fractions the scheme is
  /// exact with any valid factor, and few halvings keep the fractions short.
  template <class Scalar>
  static constexpr int steps = std::is_floating_point_v<Scalar> ? 60 : 12;
};

}  // namespace draftproof::verifiers
