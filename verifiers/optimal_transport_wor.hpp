// Optimal transport for draws of q without replacement. The scheme reads the set of the drafts, not their order.
//
// optimal_transport.hpp describes the plan, its cost and its correctness.
// Acceptance: the optimum of this draft sampling, for which no closed form is known here.
// Source: Sun et al. 2023 (SpecTr), arXiv:2310.15141, the transport problem; its form for sets instead of tuples is
// derived here.
#pragma once

#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/verifiers/optimal_transport.hpp>

namespace draftproof::verifiers {

struct OptimalTransportWor : OptimalTransportOf<drafters::WithoutReplacement> {
  static constexpr Info info{
      .name = "optimal_transport_wor",
      .summary = "a maximum flow from drafted sets to tokens: the optimum for draws without replacement",
      .source = "Sun et al. 2023 (SpecTr), arXiv:2310.15141; sets for tuples derived here",
      .drafts = DraftSamplings{"without_replacement"},
      .claims = {.accepts_equal_distributions = true,
                 .one_draft_is_single_draft = true,
                 .emitted_drafts_are_accepted = true,
                 .more_drafts_never_hurt = true},
      .unsupported = enumerated_plan,
      .ranks_tokens = true};
};

}  // namespace draftproof::verifiers
