// Optimal transport for one draw from each of K different proposals. For such drafts no single order of the tokens
// gives the best cut, so the plan is a flow.
//
// optimal_transport.hpp describes the plan, its cost and its correctness.
// Acceptance: the optimum of this draft sampling, for which no closed form is known here.
// Source: the transport problem is from Sun et al. 2023 (SpecTr), arXiv:2310.15141; sets instead of tuples are derived
// here.
#pragma once

#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/verifiers/optimal_transport.hpp>

namespace draftproof::verifiers {

struct OptimalTransportIndependent : OptimalTransportOf<drafters::Independent> {
  static constexpr Info info{
      .name = "optimal_transport_independent",
      .summary = "a maximum flow from drafted sets to tokens: the optimum for different proposals",
      .source = "Sun et al. 2023 (SpecTr), arXiv:2310.15141; sets for tuples derived here",
      .drafts = DraftSamplings{"independent"},
      .claims = {.accepts_equal_distributions = true,
                 .one_draft_is_single_draft = true,
                 .emitted_drafts_are_accepted = true,
                 .more_drafts_never_hurt = true},
      .unsupported = enumerated_plan};
};

}  // namespace draftproof::verifiers
