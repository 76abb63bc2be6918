// Mutant: token verification whose count of accepted tokens starts at the refused position and flips again for it.
//
//   n        accepted of the extra token     the reported number of accepted tokens
//
// Source: flashinfer-ai/flashinfer, chain kernel, reading of the source.
// Error: the count contradicts the emitted tokens.
// Hidden: in all laws, since the tokens are right.
// Smallest: L = 1, q=(1 0), p=(1 1)/2: refused with probability 1/2, then counted as accepted with probability 1/2.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof::mutants::paths {

struct AcceptedCountsRejectedOne {
  static constexpr Info info{
      .name = "accepted_counts_rejected_one",
      .summary = "token verification that tosses a coin for the refused token again to count it",
      .source = "flashinfer-ai/flashinfer, chain kernel, reading of the source",
      .drafts = DraftLaws{"iid_paths"},
      .most_drafts = 1,
      .claims = {.accepts_equal_laws = true, .one_path_is_token_path = true},
      .derived_from = "token_path"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    const PlainSteps<L> steps(at);
    for (int i = 0; i < steps.length(); ++i) {
      if (random.flip(steps.target(i), steps.proposal(i))) continue;
      int counted = i;
      while (counted < steps.length() && random.flip(steps.target(counted), steps.proposal(counted))) ++counted;
      Verdict extra = last_draw(steps.laws(i), random, steps.correction(i, steps.one()));
      extra.accepted = counted;
      return {steps.node(i), extra};
    }
    Verdict extra = random.emit(steps.bonus());
    extra.accepted = steps.length();
    return {steps.node(steps.length()), extra};
  }
};

}  // namespace draftproof::mutants::paths
