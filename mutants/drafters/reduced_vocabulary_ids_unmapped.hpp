// K draws of a drafter with token ids of its own, off by one from the target's; q is declared in the drafter's ids,
// the drafts come in the target's.
//
//   x        drawn by q in the drafter's ids; x + 1, the last to 0, in the target's
//
// Cost: a draw each. Source: vllm-project/vllm-ascend#16166, where the drafter had a reduced vocabulary. Wrong
// because the verifier looks a draft up under another token's id. Hidden where q is flat. At p = q = (0 1) the draft
// is one that q cannot have drawn: its accept test has the denominator 0, which an explorer reports. Just beside it,
// p = q = (1 n)/(n + 1), single-draft sampling emits (n 1)/(n + 1).
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
