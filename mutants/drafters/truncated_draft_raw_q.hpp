// Mutant: K draws of q cut to its two most probable tokens, declared as draws of the whole q.
//
// Cost: one draw a draft.
// Source: huggingface/transformers#47932.
// Error: the kept tokens are drafted more often than q says, and the verifier corrects for q.
// Hidden: where q has at most two tokens.
// Smallest: with single-draft sampling p = (0 1 1)/2, q = (2 1 2)/5: law (0 3 5)/8, TV 1/8.
#pragma once

#include <draftproof/sim/drafters/iid.hpp>

namespace draftproof::mutants::drafters {

struct TruncatedDraftRawQ {
  using Declared = draftproof::drafters::Iid;
  static constexpr DrafterInfo info{.name = "truncated_draft_raw_q",
                                    .summary = "draws of the two likeliest tokens of q, declared as draws of q",
                                    .ranks_tokens = true,
                                    .declared_as = "iid"};

  template <Laws L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& laws, int drafts, R& random, Token* out) const {
    const Token first = laws.kth_most_probable(0), second = laws.vocabulary() > 1 ? laws.kth_most_probable(1) : first;
    const auto kept = laws.weights([&laws, first, second](Token x) {
      return x == first || x == second ? typename L::Scalar(laws.proposal(x)) : laws.zero();
    });
    for (int k = 0; k < drafts; ++k) out[k] = random.pick(kept);
    return drafts;
  }
};

}  // namespace draftproof::mutants::drafters
