// Wrong drafters: drafts that are not draws of the row that they declare. `Hidden` says where a bug does not show,
// `Smallest` gives a small instance that shows it: (1 2)/3 means (1/3, 2/3), TV is the total variation between output
// and p.
#pragma once

#include <draftproof/sim/drafters/sampled.hpp>

namespace draftproof::mutants::drafters {

// Mutant: K draws of q at temperature 1/2, q squared and normalised, declared as draws of q.
//
// Cost: one draw per draft.
// Source: a bug of the kind of vllm-project/vllm#9834.
// Error: likely tokens are drafted more often than the declared q says.
// Hidden: where q is flat on its support.
// Smallest: with single-draft sampling p = (1 1)/2, q = (1 2)/3: distribution (2 3)/5, TV 1/10.
struct DraftTemperatureMismatch {
  using Declared = draftproof::drafters::Iid;
  static constexpr DrafterInfo info{.name = "draft_temperature_mismatch",
                                    .summary = "draws of q at temperature 1/2, declared as draws of q",
                                    .declared_as = "iid"};

  template <Distributions L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& distributions, int drafts, R& random, Token* out) const {
    const auto sharper = distributions.weights(
        [&distributions](Token x) { return distributions.proposal(x) * distributions.proposal(x); });
    for (int k = 0; k < drafts; ++k) out[k] = random.pick(sharper);
    return drafts;
  }
};

// Mutant: K times the most probable token of q, ties to the lower id, declared as K draws of q.
//
// Cost: none.
// Source: huggingface/transformers#32867, jaymody/speculative-sampling#3.
// Error: the draft is certain, and the verifier divides by q.
// Hidden: where q is a point mass.
// Smallest: with single-draft sampling p = q = (1 1)/2: distribution (1 0), TV 1/2.
struct GreedyDraftSoftQ {
  using Declared = draftproof::drafters::Iid;
  static constexpr DrafterInfo info{.name = "greedy_draft_soft_q",
                                    .summary = "the most probable token of q, declared as draws of q",
                                    .ranks_tokens = true,
                                    .fixed = true,
                                    .declared_as = "iid"};

  template <Distributions L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& distributions, int drafts, R&, Token* out) const {
    for (int k = 0; k < drafts; ++k) out[k] = distributions.kth_most_probable(0);
    return drafts;
  }
};

// Mutant: K draws of a drafter whose token ids are off by one from the target's. q is declared in the drafter's ids,
// but the drafts are given in the target's ids.
//
//   x        token drawn by q, in the drafter's ids; in the target's x + 1, and 0 for the last one
//
// Cost: one draw per draft.
// Source: vllm-project/vllm-ascend#16166, where the drafter had a reduced vocabulary.
// Error: the verifier looks a draft up under the id of another token.
// Hidden: where q is flat.
// Smallest: p = q = (0 1), where q cannot have drawn the draft: the accept test has the denominator 0, which
// enumeration reports. Close to it, at p = q = (1 n)/(n + 1), single-draft sampling emits (n 1)/(n + 1).

struct ReducedVocabularyIdsUnmapped {
  using Declared = draftproof::drafters::Iid;
  static constexpr DrafterInfo info{.name = "reduced_vocabulary_ids_unmapped",
                                    .summary = "draws of q under ids that are off by one",
                                    .ranks_tokens = true,
                                    .declared_as = "iid"};

  template <Distributions L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& distributions, int drafts, R& random, Token* out) const {
    for (int k = 0; k < drafts; ++k) out[k] = (random.pick(distributions.row(0)) + 1) % distributions.vocabulary();
    return drafts;
  }
};

// Mutant: K draws of q cut to its two most probable tokens, declared as draws of the whole q.
//
// Cost: one draw per draft.
// Source: huggingface/transformers#47932.
// Error: the kept tokens are drafted more often than q says, but the verifier corrects for draws of the whole q.
// Hidden: where q has at most two tokens.
// Smallest: with single-draft sampling p = (0 1 1)/2, q = (2 1 2)/5: distribution (0 3 5)/8, TV 1/8.
struct TruncatedDraftRawQ {
  using Declared = draftproof::drafters::Iid;
  static constexpr DrafterInfo info{.name = "truncated_draft_raw_q",
                                    .summary = "draws of the two likeliest tokens of q, declared as draws of q",
                                    .ranks_tokens = true,
                                    .declared_as = "iid"};

  template <Distributions L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& distributions, int drafts, R& random, Token* out) const {
    const Token first = distributions.kth_most_probable(0),
                second = distributions.vocabulary() > 1 ? distributions.kth_most_probable(1) : first;
    const auto kept = distributions.weights([&distributions, first, second](Token x) {
      return x == first || x == second ? typename L::Scalar(distributions.proposal(x)) : distributions.zero();
    });
    for (int k = 0; k < drafts; ++k) out[k] = random.pick(kept);
    return drafts;
  }
};

}  // namespace draftproof::mutants::drafters
