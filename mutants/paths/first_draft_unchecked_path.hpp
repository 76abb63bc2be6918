// Mutant: token verification whose loop starts at the second drafted token: the first is kept without a test.
//
// Source: ohdearquant/lattice#243.
// Error: the first token has law q; at L = 1 nothing is tested.
// Hidden: where p = q after the empty prefix.
// Smallest: L = 1, p = (0 1), q = (1 0): the first token is 0, TV 1.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof::mutants::paths {

struct FirstDraftUncheckedPath {
  static constexpr Info info{.name = "first_draft_unchecked_path",
                             .summary = "token verification that keeps the first drafted token untested",
                             .source = "slip reported as ohdearquant/lattice#243",
                             .drafts = DraftLaws{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "token_path"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    const PlainSteps<L> steps(at);
    for (int i = 1; i < steps.length(); ++i)
      if (!random.flip(steps.target(i), steps.proposal(i)))
        return {steps.node(i), last_draw(steps.laws(i), random, steps.correction(i, steps.one()))};
    return {steps.node(steps.length()), random.emit(steps.bonus())};
  }
};

}  // namespace draftproof::mutants::paths
