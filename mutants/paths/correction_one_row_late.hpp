// Mutant: token verification that corrects one row late: with the residual of the position after the refused token,
// given that token; at the end of the path from the target there.
//
// Source: openvinotoolkit/openvino.genai#4190.
// Hidden: where all rows are equal, except at the last position.
#pragma once

#include <draftproof/mutants/paths/bonus_from_draft.hpp>

namespace draftproof::mutants::paths {

struct CorrectionOneRowLate {
  static constexpr Info info{.name = "correction_one_row_late",
                             .summary = "token verification with the residual of the row after the refused token",
                             .source = "slip reported as openvinotoolkit/openvino.genai#4190",
                             .drafts = DraftLaws{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "token_path"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return verify_tokens(
        at, random, [&](const auto& steps) { return random.emit(steps.bonus()); },
        [&](const auto& steps, int i) {
          // Equal rows have no residual; the row itself is used, as at the end.
          const auto& late = steps.laws(i + 1);
          const bool residual = i + 1 < steps.length() && late.residual_mass(steps.one()) > steps.zero();
          return random.emit(late.residual(residual ? steps.one() : steps.zero()));
        });
  }
};

}  // namespace draftproof::mutants::paths
