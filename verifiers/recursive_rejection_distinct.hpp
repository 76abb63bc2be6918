// Recursive rejection of i.i.d. drafts with repeats dropped: the distinct drafts are a sample without replacement and
// are verified as such a sample.
//
// Cost: as recursive rejection without replacement. It usually accepts less than a rule that tests the repeats too.
// Source: derived here; that the distinct tokens are a draw without replacement is standard.
// Correctness: the distinct tokens, in order of first appearance, are a draw without replacement, and whether a
// further token follows depends only on the tokens before it.
#pragma once

#include <draftproof/verifiers/recursive_rejection_wor.hpp>

namespace draftproof::verifiers {

struct RecursiveRejectionDistinct {
  static constexpr Info info{.name = "recursive_rejection_distinct",
                             .summary = "drop repeated i.i.d. drafts, verify the rest as drawn without replacement",
                             .source = "derived here on arXiv:2402.14160",
                             .drafts = DraftSamplings{"iid"},
                             .claims = {.accepts_equal_distributions = true,
                                        .one_draft_is_single_draft = true,
                                        .emitted_drafts_are_accepted = true}};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    Token distinct[max_drafts];
    int origin[max_drafts], count = 0;
    for (int k = 0; k < at.drafts(); ++k)
      if (const Token x = at.draft(k); !among(x, distinct, count)) {
        distinct[count] = x;
        origin[count++] = k;
      }
    const DraftedPosition<typename P::Underlying> shorter(at.distributions(), distinct, count);
    Verdict verdict = RecursiveRejectionWor{}.verify(shorter, random);
    if (verdict.accepted >= 0) verdict.accepted = origin[verdict.accepted];
    return verdict;
  }
};

}  // namespace draftproof::verifiers
