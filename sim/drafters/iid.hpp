// K independent draws of one proposal q, as most engines draft. Tuples may contain repeats.
//
//   Pr(all drafts in S) = q(S)^K
//
// Source: Miao et al. 2023, arXiv:2305.09781.
#pragma once

#include <draftproof/sim/verifier.hpp>

namespace draftproof::drafters {

struct Iid {
  static constexpr DrafterInfo info{.name = "iid",
                                    .summary = "K independent draws of one proposal",
                                    .shared_proposal_iid = true,
                                    .prefix_consistent = true};

  /// Writes K drafts to `out`; returns K.
  template <Laws L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& laws, int drafts, R& random, Token* out) const {
    for (int k = 0; k < drafts; ++k) out[k] = random.pick(laws.row(0));
    return drafts;
  }

  /// The drafts of `draw` for every trial t of a batch: K tokens at out + t * stride, and K in lengths[t].
  template <DrawsTogether L, class Words>
  void draw_together(const L& laws, int drafts, Words& words, Token* out, int stride, int* lengths) const {
    for (int k = 0; k < drafts; ++k)
      laws.row(0).draw(words.words(Purpose::pick, static_cast<std::uint32_t>(k)), out + k, stride);
    for (int t = 0; t < words.count(); ++t) lengths[t] = drafts;
  }

  /// The declared probability that the tuple begins with the `count` tokens at `prefix`.
  template <class L>
  static typename L::Scalar mass(const L& laws, int, const Token* prefix, int count) {
    auto product = laws.one();
    for (int k = 0; k < count; ++k) product *= laws.proposal(prefix[k]);
    return product;
  }
};

}  // namespace draftproof::drafters
