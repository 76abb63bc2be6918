// Accepts one draft with the largest probability for which the output stays within a divergence of p. Lossy by design;
// with D = 0 it is single-draft sampling. The goal is published; rule and proof are derived here, because the published
// rule was not available.
//
//   p, q     at.target(x), at.proposal(x)
//   D        divergence            bound on KL(pi || p), in nats
//   pi       output distribution   q clamped between b p and p / c
//   c        plan.floor            0 <= c <= 1; a draft is accepted with probability min(1, p / (c q))
//   b        plan.lift             0 <= b <= 1; after a refusal the token is drawn from (b p - q)+
//
// Cost: about 50 bisections of c, a few passes each; then a flip, and a draw after a refusal. In fractions c is taken
// from a coarse grid, from above, so that the divergence bound holds and the fractions stay short.
// Correctness: an output distribution pi accepts at most sum min(pi, q), reached by single-draft sampling of pi. So
// the task is to maximise sum min(pi, q) over distributions with KL(pi || p) <= D, a concave function over a convex
// set. With multipliers lambda > 0 for the divergence and mu for the total, pi is optimal where lambda (ln(pi / p) +
// 1) + mu is 1 below q, 0 above q and in [0, 1] at pi = q. So pi = min(max(q, b p), p / c) with ln(1 / (b c)) = 1 /
// lambda. Single-draft sampling of this pi accepts with min(1, pi / q) = min(1, p / (c q)), since no test is needed
// where b p > q, and its residual (b p - q)+ belongs to the family of (p, q) at 1 / b. The total is 1 if the refused
// mass, R = sum (q - p / c)+, equals sum (b p - q)+. A larger c moves mass from q > p / c to q < b p: acceptance and
// divergence fall together, so the least c whose divergence is at most D is best. c = 0 is q itself wherever p > 0.
#pragma once

#include <cmath>
#include <type_traits>

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::verifiers::lossy {

struct MentoredDecoding {
  static constexpr Info info{.name = "mentored_decoding",
                             .summary = "the largest acceptance of one draft within a bound on the divergence from p",
                             .source = "mentored decoding; rule and proof derived here",
                             .drafts = DraftSamplings{"iid"},
                             .promise = Promise::lossy,
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  double divergence = 0.1;

  template <class Scalar>
  struct Plan {
    Scalar floor, lift;
  };

  template <Distributions L>
  DRAFTPROOF_DEVICE Plan<typename L::Scalar> prepare(const L& distributions, int) const {
    using Scalar = typename L::Scalar;
    Plan<Scalar> best{distributions.one(), distributions.one()};
    if (!(divergence > 0)) return best;
    if (const Plan<Scalar> least = plan_of(distributions, distributions.zero()); within(distributions, least))
      return least;
    Scalar low = distributions.zero();
    for (int step = 0; step < steps<Scalar>; ++step) {
      const Scalar middle = (low + best.floor) / Scalar(2);
      if (const Plan<Scalar> plan = plan_of(distributions, middle); within(distributions, plan))
        best = plan;
      else
        low = middle;
    }
    return best;
  }

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, const Plan<typename P::Scalar>& plan, R& random) const {
    const Token x = at.draft(0);
    const bool kept =
        plan.floor > at.zero() ? random.flip(at.target(x), plan.floor * at.proposal(x)) : at.target(x) > at.zero();
    if (kept) return accepted(x, 0);
    return last_draw(at, random, at.residual(at.one() / plan.lift));
  }

  /// KL(pi || p) of a plan, in nats.
  template <Distributions L>
  DRAFTPROOF_DEVICE static double divergence_of(const L& distributions, const Plan<typename L::Scalar>& plan) {
    const double c = static_cast<double>(plan.floor), b = static_cast<double>(plan.lift);
    // distributions.sum() requires non-negative terms with a total below 8. With t = pi / p, t ln t - t + 1 is not
    // negative, and the total is below 745, the limit of ln t for doubles, so terms are divided by 1024.
    return 1024 * distributions.sum([&distributions, c, b](Token x) {
      const double p = static_cast<double>(distributions.target(x)),
                   q = static_cast<double>(distributions.proposal(x));
      if (!(p > 0)) return 0.0;
      const double t = p < c * q ? 1 / c : (b * p > q ? b : q / p);
      const double term = p * ((t > 0 ? t * std::log(t) : 0.0) - t + 1);
      return term > 0 ? term / 1024 : 0.0;
    });
  }

  /// Returns the plan for c. Let P and Q be the p- and q-mass of the tokens with b p > q, and R the refused mass, as in
  /// the opening comment; then b = (R + Q) / P. Newton's method solves this equation, on a convex curve of at most V
  /// linear pieces: b falls from 1 until the set of tokens stays the same.
  template <Distributions L>
  DRAFTPROOF_DEVICE static Plan<typename L::Scalar> plan_of(const L& distributions, const typename L::Scalar& c) {
    using Scalar = typename L::Scalar;
    const Scalar refused = c > distributions.zero() ? distributions.sum([&distributions, c](Token x) {
      const Scalar p = distributions.target(x), q = distributions.proposal(x), above = q - p / c;
      return c * q > p ? above : distributions.zero();
    })
                                                    : distributions.sum([&distributions](Token x) {
                                                        const Scalar p = distributions.target(x),
                                                                     q = distributions.proposal(x);
                                                        return p > distributions.zero() ? distributions.zero() : q;
                                                      });
    if (!(refused > distributions.zero())) return {c, distributions.zero()};  // no refusal, no residual
    for (Scalar b = distributions.one();;) {
      // p and q of every token are read, even if only one is needed, since a pass without branches vectorises.
      const Scalar target = distributions.sum([&distributions, b](Token x) {
        const Scalar p = distributions.target(x), q = distributions.proposal(x);
        return b * p > q ? p : distributions.zero();
      });
      const Scalar proposal = distributions.sum([&distributions, b](Token x) {
        const Scalar p = distributions.target(x), q = distributions.proposal(x);
        return b * p > q ? q : distributions.zero();
      });
      // If some mass is refused, some tokens have b p > q, except after rounding.
      if (!(target > distributions.zero())) return {c, b};
      const Scalar next = (refused + proposal) / target;
      if (!(next < b)) return {c, b};
      b = next;
    }
  }

 private:
  template <Distributions L>
  DRAFTPROOF_DEVICE bool within(const L& distributions, const Plan<typename L::Scalar>& plan) const {
    return divergence_of(distributions, plan) <= divergence;
  }

  /// Number of halvings of the interval of c: 50 for the precision of a double; 10 in fractions, to keep them short.
  template <class Scalar>
  static constexpr int steps = std::is_floating_point_v<Scalar> ? 50 : 10;
};

}  // namespace draftproof::verifiers::lossy
