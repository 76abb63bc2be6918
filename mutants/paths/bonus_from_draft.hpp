// Mutant: token verification that draws its bonus token from the proposal after the path, not from the target.
//
// Source: wrong-row slips of the kind of SafeAILab/EAGLE#47.
// Hidden: in acceptance, the first token and all drafted tokens; only tests of L + 1 tokens see it.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof::mutants::paths {

/// Token verification with callbacks for the extra token: bonus(steps) and correction(steps, i).
template <class L, class R, class Bonus, class Correction>
StepOutput verify_tokens(const DraftedTree<L>& at, R& random, Bonus bonus, Correction correction) {
  const PlainSteps<L> steps(at);
  for (int i = 0; i < steps.length(); ++i)
    if (!random.flip(steps.target(i), steps.proposal(i))) return {steps.node(i), correction(steps, i)};
  return {steps.node(steps.length()), bonus(steps)};
}

struct BonusFromDraft {
  static constexpr Info info{.name = "bonus_from_draft",
                             .summary = "token verification with the bonus drawn from the proposal",
                             .source = "wrong-row slips of the kind of SafeAILab/EAGLE#47",
                             .drafts = DraftLaws{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "token_path"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return verify_tokens(
        at, random, [&](const auto& steps) { return random.emit(steps.laws(steps.length()).row(0)); },
        [&](const auto& steps, int i) { return last_draw(steps.laws(i), random, steps.correction(i, steps.one())); });
  }
};

}  // namespace draftproof::mutants::paths
