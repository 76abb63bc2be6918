// The K most probable tokens of q, without randomness: the drafts of dynamic-tree engines. Ties go to the lower id.
// Pr(all drafts in S) is 0 or 1, so no accept rule that divides by q applies.
//
// Source: Li et al. 2024 (EAGLE-2), arXiv:2406.16858.
#pragma once

#include <draftproof/sim/sampling/top_k.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::drafters {

struct FixedTopK {
  static constexpr DrafterInfo info{.name = "fixed_top_k",
                                    .summary = "the K most probable tokens of q, not sampled",
                                    .needs_k_tokens = true,
                                    .ranks_tokens = true,
                                    .fixed = true};

  /// Writes K distinct drafts to `out`; returns K.
  template <Laws L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& laws, int drafts, R&, Token* out) const {
    for (int k = 0; k < drafts; ++k) out[k] = laws.kth_most_probable(k);
    return drafts;
  }

  /// The declared probability that the tuple begins with the `count` tokens at `prefix`.
  template <class L>
  static typename L::Scalar mass(const L& laws, int, const Token* prefix, int count) {
    for (int k = 0; k < count; ++k)
      if (probability_rank(laws, prefix[k]) != k) return laws.zero();
    return laws.one();
  }
};

}  // namespace draftproof::drafters
