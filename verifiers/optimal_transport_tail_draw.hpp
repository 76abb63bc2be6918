// Optimal transport for the draft sampling of tail_draw: the top token, one draw from the tail and the most probable
// other tokens. Its acceptance is an upper bound for tail_draw.
//
// optimal_transport.hpp describes the plan, its cost and its correctness.
// Acceptance: the optimum of this draft sampling, for which no closed form is known here.
// Source: Sun et al. 2023 (SpecTr), arXiv:2310.15141, for the transport problem; its form on sets in place of tuples is
// derived here.
#pragma once

#include <draftproof/sim/drafters/fixed.hpp>
#include <draftproof/verifiers/optimal_transport.hpp>

namespace draftproof::verifiers {

struct OptimalTransportTailDraw : OptimalTransportOf<drafters::TailDraw> {
  static constexpr Info info{
      .name = "optimal_transport_tail_draw",
      .summary = "a maximum flow from drafted sets to tokens: the optimum for top tokens and one draw of the tail",
      .source = "Sun et al. 2023 (SpecTr), arXiv:2310.15141; sets for tuples derived here",
      .drafts = DraftSamplings{"tail_draw"},
      .fewest_drafts = 2,
      .claims = {.emitted_drafts_are_accepted = true},
      .unsupported = enumerated_plan};
};

}  // namespace draftproof::verifiers
