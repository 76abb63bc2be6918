// Mutants: the ladder for drafts without replacement with a wrong choice in a group.
//
// Source: choices that look right: the choice of the i.i.d. ladder, or a choice by p / q or by draw order.
// Error: the token of the group that was drawn first decides how much of the group's mass still competes with the bins
// above. So the choice does not have distribution q on the group, and the selected draft does not have the distribution
// p_I that the ladder computes (ladder.hpp).
#pragma once

#include <draftproof/verifiers/ladder_wor.hpp>

namespace draftproof::mutants {

// Mutant: takes the draft of the group with the highest p / q.
//
// Hidden: at K = 1.

namespace detail {

struct BestOfGroup {
  template <class P, class Core, class R>
  DRAFTPROOF_DEVICE int of(const P& at, const Core& core, const TakenGroup& group, R&) const {
    const auto bin = [&](int i) { return core.bin(at.distributions(), at.draft(group.drafts[i])); };
    int best = 0;
    for (int i = 1; i < group.size; ++i)
      if (bin(i) < bin(best)) best = i;
    return best;
  }
};

}  // namespace detail

struct LadderWorBestRatio : verifiers::LadderWorBy<detail::BestOfGroup> {
  static constexpr Info info{
      .name = "ladder_wor_best_ratio",
      .summary = "the ladder for drafts without replacement takes the draft of the highest p/q",
      .source = "bug of a choice inside a group; rule in docs/ladder.md",
      .drafts = DraftSamplings{"without_replacement"},
      .unsupported = verifiers::LadderWor::info.unsupported,
      .derived_from = "ladder_wor"};
};

// Mutant: takes the draft of the group that was drawn first.
//
// Hidden: where no token ranks above the group, and at K = 1.

namespace detail {

struct FirstOfGroup {
  template <class P, class Core, class R>
  DRAFTPROOF_DEVICE int of(const P&, const Core&, const TakenGroup&, R&) const {
    return 0;
  }
};

}  // namespace detail

struct LadderWorFirstDraft : verifiers::LadderWorBy<detail::FirstOfGroup> {
  static constexpr Info info{
      .name = "ladder_wor_first_draft",
      .summary = "the ladder for drafts without replacement takes the first draft of the group",
      .source = "bug of a choice inside a group; rule in docs/ladder.md",
      .drafts = DraftSamplings{"without_replacement"},
      .unsupported = verifiers::LadderWor::info.unsupported,
      .derived_from = "ladder_wor"};
};

// Mutant: takes the draft of the group that was drawn last.
//
// Hidden: at K = 1.

namespace detail {

struct LastOfGroup {
  template <class P, class Core, class R>
  DRAFTPROOF_DEVICE int of(const P&, const Core&, const TakenGroup& group, R&) const {
    return group.size - 1;
  }
};

}  // namespace detail

struct LadderWorLastDraft : verifiers::LadderWorBy<detail::LastOfGroup> {
  static constexpr Info info{.name = "ladder_wor_last_draft",
                             .summary = "the ladder for drafts without replacement takes the last draft of the group",
                             .source = "bug of a choice inside a group; rule in docs/ladder.md",
                             .drafts = DraftSamplings{"without_replacement"},
                             .unsupported = verifiers::LadderWor::info.unsupported,
                             .derived_from = "ladder_wor"};
};

// Mutant: takes a draft of the group uniformly, as is right for i.i.d. drafts.
//
// Hidden: at K = 1 and where the masses in the group are equal.

namespace detail {

struct AnyOfGroup {
  template <class P, class Core, class R>
  DRAFTPROOF_DEVICE int of(const P&, const Core&, const TakenGroup& group, R& random) const {
    return static_cast<int>(random.pick(UniformIndex{group.size}));
  }
};

}  // namespace detail

struct LadderWorUniformDraft : verifiers::LadderWorBy<detail::AnyOfGroup> {
  static constexpr Info info{.name = "ladder_wor_uniform_draft",
                             .summary = "the ladder for drafts without replacement chooses uniformly in the group",
                             .source = "bug of a choice inside a group; rule in docs/ladder.md",
                             .drafts = DraftSamplings{"without_replacement"},
                             .unsupported = verifiers::LadderWor::info.unsupported,
                             .derived_from = "ladder_wor"};
};

}  // namespace draftproof::mutants
