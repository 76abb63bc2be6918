// Mutant: the ladder for drafts without replacement, with another choice inside the group taken:
// the last of the group in draw order.
//
// Source: the choice of the i.i.d. ladder, or what seems to follow from the draw order.
// Error: the token of the group drawn first decides how much of its mass still competes with the bins above. So the
// choice does not have law q on the group, and p_I is not the law of the selected draft.
// Hidden: at K = 1.
#pragma once

#include <draftproof/verifiers/ladder_wor.hpp>

namespace draftproof::mutants {

struct LastOfGroup {
  template <class P, class Core, class R>
  DRAFTPROOF_DEVICE int of(const P&, const Core&, const DistinctGroup& group, R&) const {
    return group.size - 1;
  }
};

struct LadderWorLastDraft : verifiers::LadderWorBy<LastOfGroup> {
  static constexpr Info info{.name = "ladder_wor_last_draft",
                             .summary = "the ladder for drafts without replacement takes the last draft of the group",
                             .source = "slip of a choice inside a group; rule in docs/ladder.md",
                             .drafts = DraftLaws{"without_replacement"},
                             .unsupported = verifiers::LadderWor::info.unsupported,
                             .derived_from = "ladder_wor"};
};

}  // namespace draftproof::mutants
