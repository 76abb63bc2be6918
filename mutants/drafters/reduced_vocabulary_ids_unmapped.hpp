// Mutant: K draws of a drafter whose token ids are off by one from the target's. q is declared in the drafter's ids,
// the drafts are given in the target's.
//
//   x        token drawn by q, in the drafter's ids; in the target's x + 1, and 0 for the last one
//
// Cost: one draw a draft.
// Source: vllm-project/vllm-ascend#16166, where the drafter had a reduced vocabulary.
// Error: the verifier looks a draft up under the id of another token.
// Hidden: where q is flat.
// Smallest: p = q = (0 1), where q cannot have drawn the draft: the accept test has the denominator 0, which an
// explorer reports. Close to it, at p = q = (1 n)/(n + 1), single-draft sampling emits (n 1)/(n + 1).
#pragma once

#include <draftproof/sim/drafters/iid.hpp>

namespace draftproof::mutants::drafters {

struct ReducedVocabularyIdsUnmapped {
  using Declared = draftproof::drafters::Iid;
  static constexpr DrafterInfo info{.name = "reduced_vocabulary_ids_unmapped",
                                    .summary = "draws of q under ids that are off by one",
                                    .ranks_tokens = true,
                                    .declared_as = "iid"};

  template <Laws L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& laws, int drafts, R& random, Token* out) const {
    for (int k = 0; k < drafts; ++k) out[k] = (random.pick(laws.row(0)) + 1) % laws.vocabulary();
    return drafts;
  }
};

}  // namespace draftproof::mutants::drafters
