// The K - 1 most probable tokens of q, fixed, then one draw of q outside them, uniform if q has no mass there. Ties
// go to the lower id, in drafter and verifier alike.
//
//   T                      the fixed set of K - 1 tokens
//   Pr(all drafts in S)    0 unless T lies in S, then q(S without T) / q(outside T)
//
// Source: Hu et al. 2025, arXiv:2502.18779 (greedy draft sampling).
#pragma once

#include <draftproof/sim/sampling/complement.hpp>
#include <draftproof/sim/sampling/top_k.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::drafters {

struct Greedy {
  static constexpr DrafterInfo info{.name = "greedy",
                                    .summary = "the K - 1 most probable tokens of q, then one draw of q outside them",
                                    .needs_k_tokens = true,
                                    .ranks_tokens = true};

  /// Writes K distinct drafts to `out`; returns K.
  template <Laws L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& laws, int drafts, R& random, Token* out) const {
    const int last = drafts - 1;
    for (int k = 0; k < last; ++k) out[k] = laws.kth_most_probable(k);
    out[last] = laws.mass_without(0, out, last) > laws.zero()
                    ? random.pick(laws.row_without(0, out, last))
                    : random.pick(UniformOnComplement{laws.vocabulary(), out, last});
    return drafts;
  }

  /// The declared probability that the tuple begins with the `count` tokens at `prefix`.
  template <class L>
  static typename L::Scalar mass(const L& laws, int drafts, const Token* prefix, int count) {
    auto unseen = laws.one();
    for (int k = 0; k < count && k < drafts - 1; ++k) {
      if (probability_rank(laws, prefix[k]) != k) return laws.zero();
      unseen -= laws.proposal(prefix[k]);
    }
    if (count < drafts) return laws.one();
    const Token last = prefix[drafts - 1];
    if (among(last, prefix, drafts - 1)) return laws.zero();
    if (unseen > laws.zero()) return laws.proposal(last) / unseen;
    return laws.one() / typename L::Scalar(laws.vocabulary() - drafts + 1);
  }
};

}  // namespace draftproof::drafters
