// Mutant: K times the most probable token of q, of equals the lower id, declared as K draws of q.
//
// Cost: none.
// Source: huggingface/transformers#32867, jaymody/speculative-sampling#3.
// Error: the draft is certain, and the verifier divides by q.
// Hidden: where q is a point mass.
// Smallest: with single-draft sampling p = q = (1 1)/2: law (1 0), TV 1/2.
#pragma once

#include <draftproof/sim/drafters/iid.hpp>

namespace draftproof::mutants::drafters {

struct GreedyDraftSoftQ {
  using Declared = draftproof::drafters::Iid;
  static constexpr DrafterInfo info{.name = "greedy_draft_soft_q",
                                    .summary = "the most probable token of q, declared as draws of q",
                                    .ranks_tokens = true,
                                    .fixed = true,
                                    .declared_as = "iid"};

  template <Laws L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& laws, int drafts, R&, Token* out) const {
    for (int k = 0; k < drafts; ++k) out[k] = laws.kth_most_probable(0);
    return drafts;
  }
};

}  // namespace draftproof::mutants::drafters
