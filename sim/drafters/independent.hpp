// One draw of each of K proposals, independently: several draft models, or one at several temperatures.
//
//   Pr(all drafts in S) = product of q_k(S)
//
// Source: the setting of Khisti et al., arXiv:2410.18234.
#pragma once

#include <draftproof/sim/verifier.hpp>

namespace draftproof::drafters {

struct Independent {
  static constexpr DrafterInfo info{
      .name = "independent", .summary = "one draw of each of K proposals, independently", .several_proposals = true};

  /// Writes K drafts to `out`; returns K.
  template <Laws L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& laws, int drafts, R& random, Token* out) const {
    for (int k = 0; k < drafts; ++k) out[k] = random.pick(laws.row(k));
    return drafts;
  }

  /// The declared probability that the tuple begins with the `count` tokens at `prefix`.
  template <class L>
  static typename L::Scalar mass(const L& laws, int, const Token* prefix, int count) {
    auto product = laws.one();
    for (int k = 0; k < count; ++k) product *= laws.proposal(prefix[k], k);
    return product;
  }
};

}  // namespace draftproof::drafters
