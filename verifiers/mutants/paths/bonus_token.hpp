// Mutants: the token after a path whose drafts are all accepted comes from a wrong row.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof::mutants::paths {

// Mutant: token verification that draws its bonus token from the proposal after the path, not from the target.
//
// Source: wrong-row bugs of the kind of SafeAILab/EAGLE#47.
// Hidden: in acceptance, the first token and all drafted tokens; only tests of L + 1 tokens show it.

/// Token verification with callbacks for the extra token: bonus(steps) and correction(steps, i).
template <class L, class R, class Bonus, class Correction>
StepOutput verify_tokens(const DraftedTree<L>& at, R& random, Bonus bonus, Correction correction) {
  const PlainSteps<L> steps(at);
  for (int i = 0; i < steps.length(); ++i)
    if (!random.flip(steps.target(i), steps.proposal(i))) return {steps.node(i), correction(steps, i)};
  return {steps.node(steps.length()), bonus(steps)};
}
/// Token verification with the right correction and a callback for the bonus token.
template <class L, class R, class Bonus>
StepOutput verify_tokens(const DraftedTree<L>& at, R& random, Bonus bonus) {
  return verify_tokens(at, random, bonus, [&](const auto& steps, int i) {
    return last_draw(steps.distributions(i), random, steps.correction(i, steps.one()));
  });
}

struct BonusFromDraft {
  static constexpr Info info{.name = "bonus_from_draft",
                             .summary = "token verification with the bonus drawn from the proposal",
                             .source = "wrong-row bugs of the kind of SafeAILab/EAGLE#47",
                             .drafts = DraftSamplings{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "token_path"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return verify_tokens(at, random,
                         [&](const auto& steps) { return random.emit(steps.distributions(steps.length()).row(0)); });
  }
};

// Mutant: token verification at temperature 1/2 that draws its bonus token at temperature 1, from the square root of
// the row. Fractions have no roots, so here the temperatures are exchanged: verification is at 1 and the bonus at
// 1/2, drawn from p p / S, where S is the sum of p^2.
//
// Source: EAGLE's package 1.2.1 (docs/findings/engine-eagle-package.md).
// Hidden: in acceptance, the first token and all drafted tokens, and where rows are flat.
struct BonusIgnoresTemperature {
  static constexpr Info info{.name = "bonus_ignores_temperature",
                             .summary = "token verification with the bonus drawn at another temperature",
                             .source = "SafeAILab/EAGLE, package eagle-llm 1.2.1",
                             .drafts = DraftSamplings{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "token_path"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return verify_tokens(at, random, [&](const auto& steps) {
      const auto& distributions = steps.distributions(steps.length());
      return random.emit(distributions.weights(
          [&distributions](Token x) { return distributions.target(x) * distributions.target(x); }));
    });
  }
};

// Mutant: token verification that draws its bonus token from the target row of the last drafted token, one row early.
//
// Source: SafeAILab/EAGLE#47.
// Hidden: in the mean length and the first token, and where all rows are equal.
struct BonusOneRowEarly {
  static constexpr Info info{.name = "bonus_one_row_early",
                             .summary = "token verification with the bonus drawn one target row early",
                             .source = "bug reported as SafeAILab/EAGLE#47",
                             .drafts = DraftSamplings{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "token_path"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return verify_tokens(at, random, [&](const auto& steps) {
      return random.emit(steps.distributions(steps.length() - 1).residual(steps.zero()));
    });
  }
};

}  // namespace draftproof::mutants::paths
