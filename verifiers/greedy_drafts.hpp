// Optimal verification of greedy drafts: K - 1 fixed tokens and one draw from q restricted to the other tokens. The
// single-draft rule tests the draw with its true distribution; a residual draw counts as accepted if it is a fixed
// token.
//
//   T        first K - 1 drafts      most probable tokens of q
//   q'       tail(x)                 q outside T, renormalised; uniform there if q has no mass left
//
// Cost: one pass for the plan, one flip and at most one draw.
// Acceptance: p(T) + sum outside T of min(p, q'), the optimum of its draft sampling.
// Source: the draft sampling of Hu et al. 2025, arXiv:2502.18779; the rule is derived here.
// Correctness: the scheme is single-draft sampling with proposal q'.
#pragma once

#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::verifiers {

/// The distribution of the last draft: q outside a fixed set of most probable tokens. On rows without a table, a token
/// is compared with the last fixed token only, in the order of q and without a branch, because passes over V tokens
/// call this function. A table stores q rounded, which could change this order, so the token is compared with every
/// fixed token.
template <class L>
struct TailDistribution {
  using Scalar = typename L::Scalar;
  const L& distributions;
  Token fixed[max_drafts];
  int count;     ///< number of fixed tokens
  Scalar bound;  ///< q of the last fixed token; above 1 if no token is fixed
  /// The tail is q / divisor + uniform. (divisor, uniform) is (q-mass outside `fixed`, 0), or (1, 1 / (V - count)) if
  /// this mass is 0.
  Scalar divisor, uniform;

  TailDistribution(const L& of, int fixed_tokens)
      : distributions{of}, count{fixed_tokens}, bound{of.one() + of.one()} {
    for (int k = 0; k < fixed_tokens; ++k) fixed[k] = distributions.kth_most_probable(k);
    if (fixed_tokens > 0) bound = distributions.proposal(fixed[fixed_tokens - 1]);
    const Scalar outside = distributions.mass_without(0, fixed, fixed_tokens);
    const bool some = outside > distributions.zero();
    divisor = some ? outside : distributions.one();
    uniform =
        some ? distributions.zero() : Scalar(distributions.one() / Scalar(distributions.vocabulary() - fixed_tokens));
  }
  Scalar operator()(Token x) const {
    const Scalar q = distributions.proposal(x), tail = q / divisor + uniform;
    if constexpr (FreshDistributions<L>) {
      const int above = q > bound, tied = q == bound,
                early = count > 0 && x <= fixed[count - 1];  // integers: no branch
      return (above | (tied & early)) != 0 ? distributions.zero() : tail;
    } else {
      return among(x, fixed, count) ? distributions.zero() : tail;
    }
  }
  Scalar left(Token x) const {
    const Scalar weight = distributions.target(x) - (*this)(x);
    return weight > distributions.zero() ? weight : distributions.zero();
  }
};

template <class L>
auto tail_residual(const TailDistribution<L>& tail) {
  return tail.distributions.alias_weights([tail](Token x) { return tail.left(x); });
}

template <class L>
struct TailPlan {
  TailDistribution<L> tail;
  decltype(tail_residual(std::declval<const TailDistribution<L>&>())) residual;

  TailPlan(const L& distributions, int fixed_tokens)
      : tail{distributions, fixed_tokens}, residual{tail_residual(tail)} {}

  template <class P, class R>
  Verdict verify_last(const P& at, R& random) const {
    const int last = at.drafts() - 1;
    const Token x = at.draft(last);
    if (random.flip(at.target(x), tail(x))) return accepted(x, last);
    return matched(at, last_draw(at, random, residual));
  }
};

struct GreedyDrafts {
  static constexpr Info info{.name = "greedy_drafts",
                             .summary = "optimal for K - 1 fixed top tokens and one draw outside them",
                             .source = "draft sampling of Hu et al. 2025, arXiv:2502.18779; rule derived here",
                             .drafts = DraftSamplings{"greedy"},
                             .claims = {.emitted_drafts_are_accepted = true, .more_drafts_never_hurt = true},
                             .unsupported = {.device = "the plan keeps its residual on the host"}};

  template <Distributions L>
  TailPlan<L> prepare(const L& distributions, int drafts) const {
    return {distributions, drafts - 1};
  }
  template <Position P, RandomSource R>
  Verdict verify(const P& at, const TailPlan<typename P::Underlying>& plan, R& random) const {
    return plan.verify_last(at, random);
  }
};

}  // namespace draftproof::verifiers
