// Mutant: the ladder for drafts without replacement, with another choice inside the group taken:
// the first of the group in draw order.
//
// Source: the choice of the i.i.d. ladder, or what seems to follow from the draw order.
// Error: the token of the group drawn first decides how much of its mass still competes with the bins above. So the
// choice does not have law q on the group, and p_I is not the law of the selected draft.
// Hidden: where nothing ranks above the group, and at K = 1.
#pragma once

#include <draftproof/verifiers/ladder_wor.hpp>

namespace draftproof::mutants {

struct FirstOfGroup {
  template <class P, class Core, class R>
  DRAFTPROOF_DEVICE int of(const P&, const Core&, const DistinctGroup&, R&) const {
    return 0;
  }
};

struct LadderWorFirstDraft : verifiers::LadderWorBy<FirstOfGroup> {
  static constexpr Info info{.name = "ladder_wor_first_draft",
                             .summary = "the ladder for drafts without replacement takes the first draft of the group",
                             .source = "slip of a choice inside a group; rule in docs/ladder.md",
                             .drafts = DraftLaws{"without_replacement"},
                             .unsupported = verifiers::LadderWor::info.unsupported,
                             .derived_from = "ladder_wor"};
};

}  // namespace draftproof::mutants
