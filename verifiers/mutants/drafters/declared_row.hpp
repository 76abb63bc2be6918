// Wrong drafters: drafts that are not draws of the row that they declare.
#pragma once

#include <draftproof/sim/drafters/sampled.hpp>

namespace draftproof::mutants::drafters {

// Mutant: K draws of q at temperature 1/2, q squared and normalised, declared as draws of q.
//
// Cost: one draw a draft.
// Source: family of vllm-project/vllm#9834.
// Error: likely tokens are drafted more often than the declared q says.
// Hidden: where q is flat on its support.
// Smallest: with single-draft sampling p = (1 1)/2, q = (1 2)/3: law (2 3)/5, TV 1/10.
struct DraftTemperatureMismatch {
  using Declared = draftproof::drafters::Iid;
  static constexpr DrafterInfo info{.name = "draft_temperature_mismatch",
                                    .summary = "draws of q at temperature 1/2, declared as draws of q",
                                    .declared_as = "iid"};

  template <Laws L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& laws, int drafts, R& random, Token* out) const {
    const auto sharper = laws.weights([&laws](Token x) { return laws.proposal(x) * laws.proposal(x); });
    for (int k = 0; k < drafts; ++k) out[k] = random.pick(sharper);
    return drafts;
  }
};

// Mutant: K times the most probable token of q, of equals the lower id, declared as K draws of q.
//
// Cost: none.
// Source: huggingface/transformers#32867, jaymody/speculative-sampling#3.
// Error: the draft is certain, and the verifier divides by q.
// Hidden: where q is a point mass.
// Smallest: with single-draft sampling p = q = (1 1)/2: law (1 0), TV 1/2.
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

// Mutant: K draws of q cut to its two most probable tokens, declared as draws of the whole q.
//
// Cost: one draw a draft.
// Source: huggingface/transformers#47932.
// Error: the kept tokens are drafted more often than q says, and the verifier corrects for q.
// Hidden: where q has at most two tokens.
// Smallest: with single-draft sampling p = (0 1 1)/2, q = (2 1 2)/5: law (0 3 5)/8, TV 1/8.
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
