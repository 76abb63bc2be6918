// Mutant: token verification that after a refusal draws from the target, not from its residual, and stops there. (The
// node-by-node form of the same bug continues where the draw was drafted.)
//
// Source: alibaba/rtp-llm#1295.
// Error: accepted drafts have already served min(p, q).
// Hidden: at p = q.
#pragma once

#include <draftproof/mutants/paths/bonus_from_draft.hpp>

namespace draftproof::mutants::paths {

struct ResampleFromTargetPath {
  static constexpr Info info{.name = "resample_from_target_path",
                             .summary = "token verification corrected with a draw from the target",
                             .source = "slip reported as alibaba/rtp-llm#1295",
                             .drafts = DraftLaws{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "token_path"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return verify_tokens(
        at, random, [&](const auto& steps) { return random.emit(steps.bonus()); },
        [&](const auto& steps, int i) { return random.emit(steps.laws(i).residual(steps.zero())); });
  }
};

}  // namespace draftproof::mutants::paths
