// Drafters that draw from the proposal.
#pragma once

#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/sim/sampling/without_replacement.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::drafters {

// K independent draws from one proposal q, as in most engines. Tuples may contain repeats.
//
//   Pr(all drafts in S) = q(S)^K
//
// Source: Miao et al. 2023, arXiv:2305.09781.
struct Iid {
  static constexpr DrafterInfo info{.name = "iid",
                                    .summary = "K independent draws of one proposal",
                                    .shared_proposal_iid = true,
                                    .prefix_consistent = true};

  /// Writes K drafts to `out`; returns K.
  template <Distributions L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& distributions, int drafts, R& random, Token* out) const {
    for (int k = 0; k < drafts; ++k) out[k] = random.pick(distributions.row(0));
    return drafts;
  }

  /// Writes the drafts of `draw` for every trial t of a batch: K tokens to out + t * stride, and K to lengths[t].
  template <DrawsTogether L, class Words>
  void draw_together(const L& distributions, int drafts, Words& words, Token* out, int stride, int* lengths) const {
    for (int k = 0; k < drafts; ++k)
      distributions.row(0).draw(words.words(Purpose::pick, static_cast<std::uint32_t>(k)), out + k, stride);
    for (int t = 0; t < words.count(); ++t) lengths[t] = drafts;
  }

  /// Returns the declared probability that the tuple begins with the `count` tokens at `prefix`.
  template <class L>
  static typename L::Scalar mass(const L& distributions, int, const Token* prefix, int count) {
    auto product = distributions.one();
    for (int k = 0; k < count; ++k) product *= distributions.proposal(prefix[k]);
    return product;
  }
};

// One draw from each of K proposals, independently: several draft models, or one model at several temperatures.
//
//   Pr(all drafts in S) = product of q_k(S)
//
// Source: the setting of Khisti et al., arXiv:2410.18234.
struct Independent {
  static constexpr DrafterInfo info{
      .name = "independent", .summary = "one draw of each of K proposals, independently", .several_proposals = true};

  /// Writes K drafts to `out`; returns K.
  template <Distributions L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& distributions, int drafts, R& random, Token* out) const {
    for (int k = 0; k < drafts; ++k) out[k] = random.pick(distributions.row(k));
    return drafts;
  }

  /// Returns the declared probability that the tuple begins with the `count` tokens at `prefix`.
  template <class L>
  static typename L::Scalar mass(const L& distributions, int, const Token* prefix, int count) {
    auto product = distributions.one();
    for (int k = 0; k < count; ++k) product *= distributions.proposal(prefix[k], k);
    return product;
  }
};

// Draws from q without replacement, in draw order: each draft is drawn from q restricted to the tokens not drawn yet
// and renormalised. If all tokens with q > 0 are drawn, the tuple ends early (policy "stop"). Sorting the tuple
// changes its distribution.
//
// Source: Jeon et al. 2024 (RSD), arXiv:2402.14160; Chen et al. 2024 (Sequoia), arXiv:2402.12374.
struct WithoutReplacement {
  static constexpr DrafterInfo info{.name = "without_replacement",
                                    .summary = "draws of q without replacement; ends early when q runs out",
                                    .prefix_consistent = true};

  /// Writes up to K distinct drafts to `out`; returns their number, less than K if q has fewer tokens.
  template <Distributions L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& distributions, int drafts, R& random, Token* out) const {
    for (int k = 0; k < drafts; ++k) {
      if (!(distributions.mass_without(0, out, k) > distributions.zero())) return k;
      out[k] = random.pick(distributions.row_without(0, out, k));
    }
    return drafts;
  }

  /// Writes the drafts of `draw` for every trial t of a batch to out + t * stride, and their number to lengths[t]. A
  /// trial in which q has fewer than K tokens is drawn by `draw`.
  template <DrawsTogether L, class Words>
  void draw_together(const L& distributions, int drafts, Words& words, Token* out, int stride, int* lengths) const {
    draw_without_together(*this, distributions, drafts, words, out, stride, lengths);
  }

  /// Returns the declared probability that the tuple begins with the `count` tokens at `prefix`.
  template <class L>
  static typename L::Scalar mass(const L& distributions, int, const Token* prefix, int count) {
    auto product = distributions.one(), unseen = distributions.one();
    for (int k = 0; k < count; ++k) {
      const auto& q = distributions.proposal(prefix[k]);
      if (among(prefix[k], prefix, k) || !(q > distributions.zero())) return distributions.zero();
      product *= q / unseen;
      unseen -= q;
    }
    return product;
  }
};

// Draws from q without replacement that continue after all tokens with q > 0 are drawn, uniformly from the other
// tokens (policy "uniform"). So K <= V drafts always exist, and K = V covers the vocabulary. The drafts are equal to
// the drafts of without_replacement if K is at most the number of tokens with q > 0.
//
// Source: Chen et al. 2024 (Sequoia), arXiv:2402.12374 (the cover property).
struct WithoutReplacementUniform {
  static constexpr DrafterInfo info{
      .name = "without_replacement_uniform",
      .summary = "draws of q without replacement; uniform over the rest when q runs out",
      .needs_k_tokens = true,
      .prefix_consistent = true};

  /// Writes K distinct drafts to `out`; returns K.
  template <Distributions L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& distributions, int drafts, R& random, Token* out) const {
    for (int k = 0; k < drafts; ++k)
      out[k] = distributions.mass_without(0, out, k) > distributions.zero()
                   ? random.pick(distributions.row_without(0, out, k))
                   : random.pick(UniformOnComplement{distributions.vocabulary(), out, k});
    return drafts;
  }

  /// Writes the drafts of `draw` for every trial t of a batch to out + t * stride, and their number to lengths[t]. A
  /// trial in which q has fewer than K tokens is drawn by `draw`.
  template <DrawsTogether L, class Words>
  void draw_together(const L& distributions, int drafts, Words& words, Token* out, int stride, int* lengths) const {
    draw_without_together(*this, distributions, drafts, words, out, stride, lengths);
  }

  /// Returns the declared probability that the tuple begins with the `count` tokens at `prefix`.
  template <class L>
  static typename L::Scalar mass(const L& distributions, int, const Token* prefix, int count) {
    auto product = distributions.one(), unseen = distributions.one();
    for (int k = 0; k < count; ++k) {
      const auto& q = distributions.proposal(prefix[k]);
      if (among(prefix[k], prefix, k)) return distributions.zero();
      if (unseen > distributions.zero())
        product *= q / unseen;
      else
        product /= typename L::Scalar(distributions.vocabulary() - k);
      unseen -= q;
    }
    return product;
  }
};

}  // namespace draftproof::drafters
