// Two-step verification of drafts from different proposals, with a selection that is optimised on few tokens: an
// optimal flow decides tuples inside the n likeliest tokens of p, any other tuple selects one fixed draft.
//
//   n      inside                number of tokens of the reduced alphabet; n = V is the optimum
//   c      otherwise             index of the fixed draft, the first by default
//   beta   plan.alphabet         shares of the sets inside (verifiers/transport/alphabet_plan.hpp)
//   p_I    plan.selected.of(x)   law of the selected draft, tuples outside included
//
// Cost: K + 1 passes and a flow over the sets of at most K of n tokens once per (p, q, K); a look-up, one draw and
// one flip a trial, and a pass for the residual.
// Acceptance: sum min(p_I, p), at least the optimum less Pr(some draft is outside): only the selection from those
// tuples can differ from an optimal one.
// Source: Khisti et al., arXiv:2410.18234, which reduces the alphabet to 10 to 50 tokens; a reconstruction: the
// choice of tokens and the rule outside are derived here, and losslessness is proved here by exploration.
// Correctness: p_I is the law of the selected draft for any tokens inside and any fixed draft.
#pragma once

#include <draftproof/verifiers/transport/alphabet_plan.hpp>
#include <draftproof/verifiers/transport/two_step.hpp>

namespace draftproof::verifiers {

struct TruncatedAlphabet {
  static constexpr Info info{
      .name = "truncated_alphabet",
      .summary = "select among drafts of different proposals, optimised on the likeliest tokens",
      .source = "Khisti et al., arXiv:2410.18234, reduced alphabet; reconstruction",
      .drafts = DraftLaws{"independent"},
      .most_drafts = 4,  // the flow has about n^K / K! sets
      .claims = {.one_draft_is_single_draft = true},
      .unsupported = {.device = "the plan is made on the host"}};

  int inside = 12;
  int otherwise = 0;  ///< at most the index of the last draft

  template <class L>
  struct Plan {
    std::shared_ptr<const AlphabetPlan<typename L::Scalar>> alphabet;
    int otherwise;
    SelectedDraft<L> selected;
  };

  template <Laws L>
  Plan<L> prepare(const L& laws, int drafts) const {
    const int fixed = otherwise < drafts ? otherwise : drafts - 1;
    auto alphabet =
        std::make_shared<const AlphabetPlan<typename L::Scalar>>(plan_alphabet(laws, drafts, inside, fixed));
    return {alphabet, fixed, SelectedDraft<L>(laws, alphabet->law)};
  }

  template <Position P, RandomSource R>
  Verdict verify(const P& at, const Plan<typename P::Underlying>& plan, R& random) const {
    return plan.selected.verify(at, plan.alphabet->select(at, plan.otherwise, random), random);
  }
};

}  // namespace draftproof::verifiers
