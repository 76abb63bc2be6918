// Mutant: token verification that draws its bonus token from the target row of the last drafted token, one row early.
//
// Source: SafeAILab/EAGLE#47.
// Hidden: in the mean length and the first token, and where all rows are equal.
#pragma once

#include <draftproof/mutants/paths/bonus_from_draft.hpp>

namespace draftproof::mutants::paths {

struct BonusOneRowEarly {
  static constexpr Info info{.name = "bonus_one_row_early",
                             .summary = "token verification with the bonus drawn one target row early",
                             .source = "slip reported as SafeAILab/EAGLE#47",
                             .drafts = DraftLaws{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "token_path"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return verify_tokens(
        at, random,
        [&](const auto& steps) { return random.emit(steps.laws(steps.length() - 1).residual(steps.zero())); },
        [&](const auto& steps, int i) { return last_draw(steps.laws(i), random, steps.correction(i, steps.one())); });
  }
};

}  // namespace draftproof::mutants::paths
