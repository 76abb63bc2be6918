// Optimal transport for drafts from q without replacement; when q has no mass left, further drafts are uniform over the
// remaining tokens. With K = V every token is drafted, so the emitted token is always a draft.
//
// optimal_transport.hpp describes the plan, its cost and its correctness.
// Acceptance: the optimum of this draft sampling, for which no closed form is known here.
// Source: Sun et al. 2023 (SpecTr), arXiv:2310.15141, for the transport problem; the form with sets in place of tuples
// is derived here.
#pragma once

#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/verifiers/optimal_transport.hpp>

namespace draftproof::verifiers {

struct OptimalTransportWorUniform : OptimalTransportOf<drafters::WithoutReplacementUniform> {
  static constexpr Info info{
      .name = "optimal_transport_wor_uniform",
      .summary =
          "a maximum flow from drafted sets to tokens: the optimum for draws without replacement, then uniform draws",
      .source = "Sun et al. 2023 (SpecTr), arXiv:2310.15141; sets for tuples derived here",
      .drafts = DraftSamplings{"without_replacement_uniform"},
      .claims = {.accepts_equal_distributions = true,
                 .one_draft_is_single_draft = true,
                 .emitted_drafts_are_accepted = true,
                 .more_drafts_never_hurt = true},
      .unsupported = enumerated_plan};
};

}  // namespace draftproof::verifiers
