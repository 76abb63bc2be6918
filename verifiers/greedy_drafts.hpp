// Optimal verification of greedy drafts: K - 1 fixed tokens and one draw from what q leaves outside them. The
// single-draft rule on that draw, with its true law; a residual draw counts if it hits a fixed token.
//
//   T        first K - 1 drafts      most probable tokens of q
//   q'       tail(x)                 q outside T, renormalised; uniform there if q has no mass left
//
// Cost: one pass for the plan, one flip and at most one draw. Acceptance p(T) + sum outside T of min(p, q'),
// the optimum of its draft law. Source: the draft law of Hu et al. 2025, arXiv:2502.18779; the rule is derived here.
// Exact because it is single-draft sampling with draft law q'.
#pragma once

#include <draftproof/sim/sampling/function_weights.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::verifiers {

/// Single-draft sampling of the last draft, whose law is q outside a fixed set; shared by schemes of that shape. The
/// set holds the first tokens of an order, so the last of them tells who is in it. Free of branches: a pass looks at
/// V tokens.
template <class L>
struct TailLaw {
  using Scalar = typename L::Scalar;
  const L& laws;
  Token last = no_token;  ///< of the fixed tokens; those of greater q, or of the same and a lower id, are fixed too
  Scalar bound;           ///< its q; above 1 if no token is fixed
  Scalar divisor,
      uniform;  ///< tail is q / divisor + uniform: q-mass outside the fixed tokens and 0, or 1 and 1 / count

  TailLaw(const L& of, int fixed_tokens) : laws{of}, bound{of.one() + of.one()} {
    Token fixed[max_drafts];
    for (int k = 0; k < fixed_tokens; ++k) fixed[k] = laws.kth_most_probable(k);
    if (fixed_tokens > 0) bound = laws.proposal(last = fixed[fixed_tokens - 1]);
    const Scalar outside = laws.mass_without(0, fixed, fixed_tokens);
    const bool some = outside > laws.zero();
    divisor = some ? outside : laws.one();
    uniform = some ? laws.zero() : Scalar(laws.one() / Scalar(laws.vocabulary() - fixed_tokens));
  }
  Scalar operator()(Token x) const {
    const Scalar q = laws.proposal(x), tail = q / divisor + uniform;
    return (q > bound) | ((q == bound) & (x <= last)) ? laws.zero() : tail;
  }
  Scalar left(Token x) const {
    const Scalar weight = laws.target(x) - (*this)(x);
    return weight > laws.zero() ? weight : laws.zero();
  }
};

template <class L>
auto tail_residual(const TailLaw<L>& tail) {
  return tail.laws.alias_weights([tail](Token x) { return tail.left(x); });
}

template <class L>
struct TailPlan {
  TailLaw<L> tail;
  decltype(tail_residual(std::declval<const TailLaw<L>&>())) residual;

  TailPlan(const L& laws, int fixed_tokens) : tail{laws, fixed_tokens}, residual{tail_residual(tail)} {}

  template <class P, class R>
  Verdict verify_last(const P& at, R& random) const {
    const int last = at.drafts() - 1;
    const Token x = at.draft(last);
    if (random.flip(at.target(x), tail(x))) return accepted(x, last);
    return matched(at, random.emit(residual));
  }
};

struct GreedyDrafts {
  static constexpr Info info{.name = "greedy_drafts",
                             .summary = "optimal for K - 1 fixed top tokens and one draw outside them",
                             .source = "draft law of Hu et al. 2025, arXiv:2502.18779; rule derived here",
                             .drafts = DraftLaws{"greedy"},
                             .claims = {.flag_is_membership = true, .more_drafts_never_hurt = true},
                             .unsupported = {.device = "the plan keeps its residual on the host"}};

  template <Laws L>
  TailPlan<L> prepare(const L& laws, int drafts) const {
    return {laws, drafts - 1};
  }
  template <Position P, RandomSource R>
  Verdict verify(const P& at, const TailPlan<typename P::Underlying>& plan, R& random) const {
    return plan.verify_last(at, random);
  }
};

}  // namespace draftproof::verifiers
