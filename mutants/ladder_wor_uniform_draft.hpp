// Mutant: the ladder for drafts without replacement, with another choice inside the group taken:
// one of the group uniformly, as is right for i.i.d. drafts.
//
// Source: the choice of the i.i.d. ladder, or what seems to follow from the draw order.
// Error: the token of the group drawn first decides how much of its mass still competes with the bins above. So the
// choice does not have law q on the group, and p_I is not the law of the selected draft.
// Hidden: at K = 1 and where the masses in the group are equal.
#pragma once

#include <draftproof/verifiers/ladder_wor.hpp>

namespace draftproof::mutants {

struct AnyOfGroup {
  template <class P, class Core, class R>
  DRAFTPROOF_DEVICE int of(const P&, const Core&, const DistinctGroup& group, R& random) const {
    return static_cast<int>(random.pick(UniformIndex{group.size}));
  }
};

struct LadderWorUniformDraft : verifiers::LadderWorBy<AnyOfGroup> {
  static constexpr Info info{.name = "ladder_wor_uniform_draft",
                             .summary = "the ladder for drafts without replacement chooses uniformly in the group",
                             .source = "slip of a choice inside a group; rule in docs/ladder.md",
                             .drafts = DraftLaws{"without_replacement"},
                             .unsupported = verifiers::LadderWor::info.unsupported,
                             .derived_from = "ladder_wor"};
};

}  // namespace draftproof::mutants
