// Optimal transport: a maximum flow from drafted sets to tokens gives the probability with which a set emits each of
// its tokens; the rest of p is drawn. The best lossless verifier for any draft sampling that can be enumerated.
//
//   A        core->drafts.sets[i]   set of the drafts
//   Q(A)     probability[i]         its probability under the draft sampling
//   f(A,x)   core->share[i][j]      mass of A on its j-th token; the last entry is the mass that is refused
//   s(x)     core->served[x]        sum of f(A,x) over all A, at most p(x)
//
// Cost: one enumeration of the draft sampling and one flow per (p, q, K); one draw over |A| + 1 numbers per trial.
// Source: Sun et al. 2023 (SpecTr), arXiv:2310.15141, for the transport problem; its form on sets in place of tuples is
// derived here.
// Correctness: lossless for every feasible f, because the sets emit x with probability s(x) <= p(x), the rest of p is
// drawn, and Q comes from the drafter, which the plan enumerates. A plan is valid for one draft sampling only, so
// each sampling has its own type, and samplings whose optimum has no closed form have files named after them.
// Throws: EnumerationCut from prepare if there are too many draft tuples to enumerate.
#pragma once

#include <memory>

#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>
#include <draftproof/verifiers/transport/transport_plan.hpp>

namespace draftproof::verifiers {

inline constexpr Unsupported enumerated_plan{.simulate = "the plan enumerates V^K draft tuples",
                                             .fresh = "the plan enumerates V^K draft tuples",
                                             .device = "the plan enumerates V^K draft tuples"};

/// Returns the target probabilities of all tokens.
template <Distributions L>
std::vector<typename L::Scalar> target_row(const L& distributions) {
  std::vector<typename L::Scalar> row;
  for (Token x = 0; x < distributions.vocabulary(); ++x) row.push_back(distributions.target(x));
  return row;
}

template <class Drafter>
struct OptimalTransportOf {
  template <class L>
  using Core = std::shared_ptr<const TransportPlan<typename L::Scalar>>;

  template <class L>
  static auto residual_of(const L& distributions, const Core<L>& core) {
    return distributions.alias_weights([&distributions, core](Token x) -> typename L::Scalar {
      return distributions.target(x) - core->served[static_cast<std::size_t>(x)];
    });
  }
  template <class L>
  struct Plan {
    Core<L> core;
    decltype(residual_of(std::declval<const L&>(), core)) residual;
  };

  template <Distributions L>
  Plan<L> prepare(const L& distributions, int drafts) const {
    using Scalar = typename L::Scalar;
    const auto target = target_row(distributions);
    TransportPlan<Scalar> plan = plan_transport<Scalar>(draft_sets<Drafter>(distributions, drafts), target);
    // If the sets emit all of p, there is no residual to draw from, so the refused mass of a set can only be a rounding
    // error of the flow.
    if (plan.served == target) plan.spend_rounding(target);
    const Core<L> core = std::make_shared<const TransportPlan<Scalar>>(std::move(plan));
    return {core, residual_of(distributions, core)};
  }

  template <Position P, RandomSource R>
  Verdict verify(const P& at, const Plan<typename P::Underlying>& plan, R& random) const {
    const auto set = plan.core->drafts.of(at.draft_data(), at.drafts());
    if (set == plan.core->drafts.size())
      return {};  // these drafts have probability 0; an empty verdict reports an impossible branch
    const auto& members = plan.core->drafts.sets[set];
    const std::size_t chosen = plan.core->pick(set, random);
    if (chosen == members.size()) return last_draw(at, random, plan.residual);
    const Token x = members[chosen];
    return accepted(x, find_draft(at, x));
  }
};

struct OptimalTransport : OptimalTransportOf<drafters::Iid> {
  static constexpr Info info{.name = "optimal_transport",
                             .summary = "a maximum flow from drafted sets to tokens: the optimum for i.i.d. drafts",
                             .source = "Sun et al. 2023 (SpecTr), arXiv:2310.15141; sets for tuples derived here",
                             .drafts = DraftSamplings{"iid"},
                             .claims = {.accepts_equal_distributions = true,
                                        .one_draft_is_single_draft = true,
                                        .emitted_drafts_are_accepted = true,
                                        .more_drafts_never_hurt = true},
                             .unsupported = enumerated_plan,
                             .ranks_tokens = true};
};

}  // namespace draftproof::verifiers
