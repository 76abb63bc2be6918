// Draws of q without replacement that continue when the support of q runs out: uniformly from the unseen tokens
// (policy "uniform"). So K <= V drafts always exist, and K = V covers the vocabulary. Equal to without_replacement
// while K is at most the size of the support of q.
//
// Source: Chen et al. 2024 (Sequoia), arXiv:2402.12374 (the cover property).
#pragma once

#include <draftproof/sim/sampling/batched_wor.hpp>
#include <draftproof/sim/sampling/complement.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::drafters {

struct WithoutReplacementUniform {
  static constexpr DrafterInfo info{
      .name = "without_replacement_uniform",
      .summary = "draws of q without replacement; uniform over the rest when q runs out",
      .needs_k_tokens = true,
      .prefix_consistent = true};

  /// Writes K distinct drafts to `out`; returns K.
  template <Laws L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& laws, int drafts, R& random, Token* out) const {
    for (int k = 0; k < drafts; ++k)
      out[k] = laws.mass_without(0, out, k) > laws.zero()
                   ? random.pick(laws.row_without(0, out, k))
                   : random.pick(UniformOnComplement{laws.vocabulary(), out, k});
    return drafts;
  }

  /// The drafts of `draw` for every trial t of a batch: at out + t * stride, their number in lengths[t]. A trial in
  /// which the support of q runs out is drawn by `draw`.
  template <DrawsTogether L, class Words>
  void draw_together(const L& laws, int drafts, Words& words, Token* out, int stride, int* lengths) const {
    draw_without_together(*this, laws, drafts, words, out, stride, lengths);
  }

  /// The declared probability that the tuple begins with the `count` tokens at `prefix`.
  template <class L>
  static typename L::Scalar mass(const L& laws, int, const Token* prefix, int count) {
    auto product = laws.one(), unseen = laws.one();
    for (int k = 0; k < count; ++k) {
      const auto& q = laws.proposal(prefix[k]);
      if (among(prefix[k], prefix, k)) return laws.zero();
      if (unseen > laws.zero())
        product *= q / unseen;
      else
        product /= typename L::Scalar(laws.vocabulary() - k);
      unseen -= q;
    }
    return product;
  }
};

}  // namespace draftproof::drafters
