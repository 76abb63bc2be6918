// SpecHub: optimal verification of two drafts of which one is always the hub, without a linear program.
//
//   a        shares.hub          most probable token of q
//   t_i      -                   q outside the hub, renormalised
//   f1_i     min(p, q)           mass with which pair (i, a) emits i
//   f2_i     min(p - f1, q_a t)  mass with which pair (a, i) emits i
//   L1, L2   plan.left           mass of the pairs (i, a) and (a, i) beyond f1 and f2, offered to the hub
//   g1, g2   plan.hub_share      part of L1, L2 that emits the hub: g2 = min(p_a, L2), g1 = min(p_a - g2, L1)
//
// Cost: four passes for the plan, at most two flips and a draw.
// Acceptance: p_a + sum over i != a of min(p_i, t_i), the optimum of its draft sampling.
// Source: Sun et al. 2024 (SpecHub), arXiv:2411.05289.
// Correctness: pairs emit f1 + f2 <= p outside the hub and g1 + g2 <= p_a at the hub, and the rest of p is drawn.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::verifiers {

struct SpecHub {
  static constexpr Info info{.name = "spec_hub",
                             .summary = "optimal for two drafts of which one is the most probable token of q",
                             .source = "Sun et al. 2024 (SpecHub), arXiv:2411.05289",
                             .drafts = DraftSamplings{"hub"},
                             .fewest_drafts = 2,
                             .most_drafts = 2,
                             .claims = {.emitted_drafts_are_accepted = true},
                             .unsupported = {.device = "the plan keeps its residual on the host"}};

  /// The masses with which the pairs (i, a) and (a, i) are drafted and with which they emit token i; 0 for the hub. The
  /// hub is excluded by a factor 0 and not by a branch, so that passes over V vectorise.
  template <class L>
  struct Shares {
    using Scalar = typename L::Scalar;
    const L& distributions;
    Token hub;
    Scalar hub_drawn;  ///< q of the hub
    /// t is q / divisor + uniform. (divisor, uniform) is (q-mass outside the hub, 0), or (1, 1 / (V - 1)) if this mass
    /// is 0.
    Scalar divisor, uniform;

    Shares(const L& of, Token a) : distributions{of}, hub{a}, hub_drawn{of.proposal(a)} {
      const Scalar outside = distributions.mass_without(0, &hub, 1);
      const bool some = outside > distributions.zero();
      divisor = some ? outside : distributions.one();
      uniform = some ? distributions.zero() : Scalar(distributions.one() / Scalar(distributions.vocabulary() - 1));
    }
    Scalar kept(Token i) const { return i == hub ? distributions.zero() : distributions.one(); }
    Scalar drawn_first(Token i) const { return kept(i) * distributions.proposal(i); }
    Scalar drawn_second(Token i) const { return hub_drawn * Scalar(drawn_first(i) / divisor + kept(i) * uniform); }
    Scalar first(Token i) const { return smaller(distributions.target(i), drawn_first(i)); }
    Scalar second(Token i) const { return smaller(Scalar(distributions.target(i) - first(i)), drawn_second(i)); }
    /// Returns the part of p(i) that no pair emits; `at_hub` is this part at the hub.
    Scalar unserved(Token i, const Scalar& at_hub) const {
      const Scalar left = kept(i) * distributions.target(i) + (distributions.one() - kept(i)) * at_hub;
      return left - first(i) - second(i);
    }
    static Scalar smaller(const Scalar& a, const Scalar& b) { return b < a ? b : a; }
  };

  template <class L>
  static auto residual_of(const Shares<L>& shares, const typename L::Scalar& at_hub) {
    using Scalar = typename L::Scalar;
    return shares.distributions.alias_weights(
        [shares, at_hub](Token i) -> Scalar { return shares.unserved(i, at_hub); });
  }

  template <class L>
  struct Plan {
    using Scalar = typename L::Scalar;
    Shares<L> shares;
    Scalar left[2], hub_share[2];
    /// Whether the residual is 0. The last flip then fails only by rounding, and its result is ignored if p(a) > 0.
    bool serves_all;
    decltype(residual_of(shares, left[0])) residual;
  };

  template <Distributions L>
  Plan<L> prepare(const L& distributions, int) const {
    using Scalar = typename L::Scalar;
    const Shares<L> shares(distributions, distributions.kth_most_probable(0));
    const Token hub = shares.hub;
    const Scalar left1 =
        distributions.sum([shares](Token i) -> Scalar { return shares.drawn_first(i) - shares.first(i); });
    const Scalar left2 =
        distributions.sum([shares](Token i) -> Scalar { return shares.drawn_second(i) - shares.second(i); });
    const Scalar second = Shares<L>::smaller(distributions.target(hub), left2);
    const Scalar first = Shares<L>::smaller(Scalar(distributions.target(hub) - second), left1);
    // The part of p_a that L1 and L2 do not emit; it is often 0, and a rounded difference could be below 0.
    const Scalar unfilled = distributions.target(hub) - first - second;
    const Scalar at_hub = unfilled > distributions.zero() ? unfilled : distributions.zero();
    const Scalar rest = distributions.sum([shares, at_hub](Token i) { return shares.unserved(i, at_hub); });
    return {shares, {left1, left2}, {first, second}, !(rest > distributions.zero()), residual_of(shares, at_hub)};
  }

  template <Position P, RandomSource R>
  Verdict verify(const P& at, const Plan<typename P::Underlying>& plan, R& random) const {
    const bool hub_first = at.draft(0) == plan.shares.hub;
    const Token i = at.draft(hub_first ? 1 : 0);
    const auto served = hub_first ? plan.shares.second(i) : plan.shares.first(i);
    const auto drawn = hub_first ? plan.shares.drawn_second(i) : plan.shares.drawn_first(i);
    if (random.flip(served, drawn)) return accepted(i, hub_first ? 1 : 0);
    // The first flip fails only if the pair has mass left, so this denominator is positive.
    if (random.flip(plan.hub_share[hub_first], plan.left[hub_first]) ||
        (plan.serves_all && at.target(plan.shares.hub) > at.zero()))
      return accepted(plan.shares.hub, hub_first ? 0 : 1);
    return last_draw(at, random, plan.residual);
  }
};

}  // namespace draftproof::verifiers
