// Draws of q without replacement, in draw order: each draft is drawn from q restricted to unseen tokens and
// renormalised. If the support of q runs out, the tuple ends early (policy "stop"). Sorting the tuple afterwards
// changes its law.
//
// Source: Jeon et al. 2024 (RSD), arXiv:2402.14160; Chen et al. 2024 (Sequoia), arXiv:2402.12374.
#pragma once

#include <draftproof/sim/sampling/batched_wor.hpp>
#include <draftproof/sim/sampling/function_weights.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::drafters {

struct WithoutReplacement {
  static constexpr DrafterInfo info{.name = "without_replacement",
                                    .summary = "draws of q without replacement; ends early when q runs out",
                                    .prefix_consistent = true};

  /// Writes up to K distinct drafts to `out`; returns their number, less than K if the support of q runs out.
  template <Laws L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& laws, int drafts, R& random, Token* out) const {
    for (int k = 0; k < drafts; ++k) {
      if (!(laws.mass_without(0, out, k) > laws.zero())) return k;
      out[k] = random.pick(laws.row_without(0, out, k));
    }
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
      if (among(prefix[k], prefix, k) || !(q > laws.zero())) return laws.zero();
      product *= q / unseen;
      unseen -= q;
    }
    return product;
  }
};

}  // namespace draftproof::drafters
