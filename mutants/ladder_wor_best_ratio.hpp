// Mutant: the ladder for drafts without replacement, with another choice inside the group taken:
// the draft of the group with the highest p / q.
//
// Source: the choice of the i.i.d. ladder, or what seems to follow from the draw order.
// Error: the token of the group drawn first decides how much of its mass still competes with the bins above. So the
// choice does not have law q on the group, and p_I is not the law of the selected draft.
// Hidden: at K = 1.
#pragma once

#include <draftproof/verifiers/ladder_wor.hpp>

namespace draftproof::mutants {

struct BestOfGroup {
  template <class P, class Core, class R>
  DRAFTPROOF_DEVICE int of(const P& at, const Core& core, const DistinctGroup& group, R&) const {
    const auto bin = [&](int i) { return core.bin(at.laws(), at.draft(group.drafts[i])); };
    int best = 0;
    for (int i = 1; i < group.size; ++i)
      if (bin(i) < bin(best)) best = i;
    return best;
  }
};

struct LadderWorBestRatio : verifiers::LadderWorBy<BestOfGroup> {
  static constexpr Info info{.name = "ladder_wor_best_ratio",
                             .summary = "the ladder for drafts without replacement takes the draft of the highest p/q",
                             .source = "slip of a choice inside a group; rule in docs/ladder.md",
                             .drafts = DraftLaws{"without_replacement"},
                             .unsupported = verifiers::LadderWor::info.unsupported,
                             .derived_from = "ladder_wor"};
};

}  // namespace draftproof::mutants
