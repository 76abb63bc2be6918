// Mutant: token verification at temperature 1/2 that draws its bonus token at temperature 1, from the square root of
// the row. Fractions have no roots, so the row is seen from the other side: at temperature 1 the bonus is drawn at 1/2,
// from p p / S, where S is the sum of p^2.
//
// Source: EAGLE's package 1.2.1 (docs/findings/engine-eagle-package.md).
// Hidden: in acceptance, the first token and all drafted tokens, and where rows are flat.
#pragma once

#include <draftproof/mutants/paths/bonus_from_draft.hpp>

namespace draftproof::mutants::paths {

struct BonusIgnoresTemperature {
  static constexpr Info info{.name = "bonus_ignores_temperature",
                             .summary = "token verification with the bonus drawn at another temperature",
                             .source = "SafeAILab/EAGLE, package eagle-llm 1.2.1",
                             .drafts = DraftLaws{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "token_path"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return verify_tokens(
        at, random,
        [&](const auto& steps) {
          const auto& laws = steps.laws(steps.length());
          return random.emit(laws.weights([&laws](Token x) { return laws.target(x) * laws.target(x); }));
        },
        [&](const auto& steps, int i) { return last_draw(steps.laws(i), random, steps.correction(i, steps.one())); });
  }
};

}  // namespace draftproof::mutants::paths
