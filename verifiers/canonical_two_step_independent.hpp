// The canonical two-step architecture for one draw from each of K different proposals, the setting of the source.
//
// canonical_two_step.hpp describes the plan, its cost and its correctness.
// Acceptance: the optimum of this draft sampling.
// Source: Khisti et al., arXiv:2410.18234 (read in secondary sources); the computation of the weights from a flow over
// sets is derived here.
#pragma once

#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/verifiers/canonical_two_step.hpp>

namespace draftproof::verifiers {

struct CanonicalTwoStepIndependent : CanonicalTwoStepOf<drafters::Independent> {
  static constexpr Info info{
      .name = "canonical_two_step_independent",
      .summary = "select among drafts of different proposals by an optimal flow, then verify it as a single draft",
      .source = "Khisti et al., arXiv:2410.18234; weights from a flow derived here",
      .drafts = DraftSamplings{"independent"},
      .claims = {.accepts_equal_distributions = true,
                 .one_draft_is_single_draft = true,
                 .emitted_drafts_are_accepted = true,
                 .more_drafts_never_hurt = true},
      .unsupported = enumerated_plan};
};

}  // namespace draftproof::verifiers
