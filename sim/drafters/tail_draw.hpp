// A draft set with one random member: the most probable token, one draw y from the rest of q, and the most probable
// remaining tokens as fill until there are K. Tuple order: top, fill, y. y is uniform outside the top if q has no
// mass there; the fill depends on y only by leaving it out.
//
// Source: reconstruction of the set of RheoSampling, arXiv:2609.21827, with one fixed token; not checked against the
// paper.
#pragma once

#include <draftproof/sim/sampling/complement.hpp>
#include <draftproof/sim/sampling/top_k.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::drafters {

struct TailDraw {
  static constexpr DrafterInfo info{
      .name = "tail_draw",
      .summary = "the likeliest token, one draw from the rest, the next likeliest as fill",
      .needs_k_tokens = true,
      .ranks_tokens = true,
      .fewest_drafts = 2};

  /// Writes K distinct drafts to `out`; returns K.
  template <Laws L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& laws, int drafts, R& random, Token* out) const {
    const Token top = laws.kth_most_probable(0);
    const Token y = laws.mass_without(0, &top, 1) > laws.zero()
                        ? random.pick(laws.row_without(0, &top, 1))
                        : random.pick(UniformOnComplement{laws.vocabulary(), &top, 1});
    out[0] = top;
    int count = 1;
    for (int rank = 1; count < drafts - 1; ++rank)
      if (const Token x = laws.kth_most_probable(rank); x != y) out[count++] = x;
    out[count++] = y;
    return count;
  }

  /// The declared probability that the tuple begins with the `count` tokens at `prefix`.
  template <class L>
  static typename L::Scalar mass(const L& laws, int drafts, const Token* prefix, int count) {
    if (count == 0) return laws.one();
    if (probability_rank(laws, prefix[0]) != 0) return laws.zero();
    const auto rest = laws.one() - laws.proposal(prefix[0]);
    auto total = laws.zero();
    for (Token y = 0; y < laws.vocabulary(); ++y) {
      if (y == prefix[0]) continue;
      // The fill given y: place k holds rank k below y's rank and rank k + 1 from there on; y comes last.
      const int passed = probability_rank(laws, y);
      bool fits = true;
      for (int k = 1; k < count; ++k)
        fits = fits &&
               (k == drafts - 1 ? prefix[k] == y : probability_rank(laws, prefix[k]) == (k < passed ? k : k + 1));
      if (!fits) continue;
      total += rest > laws.zero() ? laws.proposal(y) / rest : laws.one() / typename L::Scalar(laws.vocabulary() - 1);
    }
    return total;
  }
};

}  // namespace draftproof::drafters
