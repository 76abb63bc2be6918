// Drafters that choose some or all drafts by their probability rank instead of drawing them.
#pragma once

#include <draftproof/sim/sampling/without_replacement.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::drafters {

// The K most probable tokens of q, without randomness: the drafts of dynamic-tree engines. Ties go to the lower id.
// The drafts are certain and not drawn from q, so accepting them with probability min(1, p / q) is not lossless.
//
// Source: Li et al. 2024 (EAGLE-2), arXiv:2406.16858.
struct FixedTopK {
  static constexpr DrafterInfo info{.name = "fixed_top_k",
                                    .summary = "the K most probable tokens of q, not sampled",
                                    .needs_k_tokens = true,
                                    .ranks_tokens = true,
                                    .fixed = true};

  /// Writes K distinct drafts to `out`; returns K.
  template <Distributions L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& distributions, int drafts, R&, Token* out) const {
    for (int k = 0; k < drafts; ++k) out[k] = distributions.kth_most_probable(k);
    return drafts;
  }

  /// Returns the declared probability that the tuple begins with the `count` tokens at `prefix`.
  template <class L>
  static typename L::Scalar mass(const L& distributions, int, const Token* prefix, int count) {
    for (int k = 0; k < count; ++k)
      if (probability_rank(distributions, prefix[k]) != k) return distributions.zero();
    return distributions.one();
  }
};

// The K - 1 most probable tokens of q, which are fixed, then one draw from q outside them; the draw is uniform if q has
// no mass there. Ties go to the lower id, in drafter and verifier alike.
//
//   T                      the fixed set of K - 1 tokens
//   Pr(all drafts in S)    0 unless T lies in S, then q(S without T) / q(outside T)
//
// Source: Hu et al. 2025, arXiv:2502.18779 (greedy draft sampling).
struct Greedy {
  static constexpr DrafterInfo info{.name = "greedy",
                                    .summary = "the K - 1 most probable tokens of q, then one draw of q outside them",
                                    .needs_k_tokens = true,
                                    .ranks_tokens = true};

  /// Writes K distinct drafts to `out`; returns K.
  template <Distributions L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& distributions, int drafts, R& random, Token* out) const {
    const int last = drafts - 1;
    for (int k = 0; k < last; ++k) out[k] = distributions.kth_most_probable(k);
    out[last] = distributions.mass_without(0, out, last) > distributions.zero()
                    ? random.pick(distributions.row_without(0, out, last))
                    : random.pick(UniformOnComplement{distributions.vocabulary(), out, last});
    return drafts;
  }

  /// Returns the declared probability that the tuple begins with the `count` tokens at `prefix`.
  template <class L>
  static typename L::Scalar mass(const L& distributions, int drafts, const Token* prefix, int count) {
    auto unseen = distributions.one();
    for (int k = 0; k < count && k < drafts - 1; ++k) {
      if (probability_rank(distributions, prefix[k]) != k) return distributions.zero();
      unseen -= distributions.proposal(prefix[k]);
    }
    if (count < drafts) return distributions.one();
    const Token last = prefix[drafts - 1];
    if (among(last, prefix, drafts - 1)) return distributions.zero();
    if (unseen > distributions.zero()) return distributions.proposal(last) / unseen;
    return distributions.one() / typename L::Scalar(distributions.vocabulary() - drafts + 1);
  }
};

// SpecHub's two drafts: the most probable token of q, the hub, is always one of them.
//
//   a      distributions.kth_most_probable(0)     hub; ties go to the lower id
//   x_1    a draw from q
//   x_2    a if x_1 is not a; otherwise a draw from q outside a, uniform if q has no mass there
//
// Source: Sun et al. 2024 (SpecHub), arXiv:2411.05289.
struct Hub {
  static constexpr DrafterInfo info{.name = "hub",
                                    .summary = "two drafts, one of them the most probable token of q",
                                    .needs_k_tokens = true,
                                    .ranks_tokens = true,
                                    .fewest_drafts = 2,
                                    .most_drafts = 2};

  /// Writes two distinct drafts to `out`; returns 2.
  template <Distributions L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& distributions, int, R& random, Token* out) const {
    const Token hub = distributions.kth_most_probable(0);
    out[0] = random.pick(distributions.row(0));
    if (out[0] != hub) {
      out[1] = hub;
    } else if (distributions.mass_without(0, &hub, 1) > distributions.zero()) {
      out[1] = random.pick(distributions.row_without(0, &hub, 1));
    } else {
      out[1] = random.pick(UniformOnComplement{distributions.vocabulary(), &hub, 1});
    }
    return 2;
  }

  /// Returns the declared probability that the tuple begins with the `count` tokens at `prefix`.
  template <class L>
  static typename L::Scalar mass(const L& distributions, int, const Token* prefix, int count) {
    if (count == 0) return distributions.one();
    const auto q = distributions.proposal(prefix[0]);
    const bool hub_first = probability_rank(distributions, prefix[0]) == 0;
    if (count == 1) return q;
    if (!hub_first) return probability_rank(distributions, prefix[1]) == 0 ? q : distributions.zero();
    if (prefix[1] == prefix[0]) return distributions.zero();
    if (q < distributions.one()) return q * distributions.proposal(prefix[1]) / (distributions.one() - q);
    return q / typename L::Scalar(distributions.vocabulary() - 1);
  }
};

// A tuple of K drafts with one random draft: the most probable token, then the next most probable tokens except y,
// then y, a draw from q outside the most probable token. y is uniform if q has no mass there.
//
// Source: reconstruction of the set of RheoSampling, arXiv:2609.21827, with one fixed token; not checked against the
// paper.
struct TailDraw {
  static constexpr DrafterInfo info{
      .name = "tail_draw",
      .summary = "the likeliest tokens, then one draw of q outside the most probable token",
      .needs_k_tokens = true,
      .ranks_tokens = true,
      .fewest_drafts = 2};

  /// Writes K distinct drafts to `out`; returns K.
  template <Distributions L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& distributions, int drafts, R& random, Token* out) const {
    const Token top = distributions.kth_most_probable(0);
    const Token y = distributions.mass_without(0, &top, 1) > distributions.zero()
                        ? random.pick(distributions.row_without(0, &top, 1))
                        : random.pick(UniformOnComplement{distributions.vocabulary(), &top, 1});
    out[0] = top;
    int count = 1;
    for (int rank = 1; count < drafts - 1; ++rank)
      if (const Token x = distributions.kth_most_probable(rank); x != y) out[count++] = x;
    out[count++] = y;
    return count;
  }

  /// Returns the declared probability that the tuple begins with the `count` tokens at `prefix`.
  template <class L>
  static typename L::Scalar mass(const L& distributions, int drafts, const Token* prefix, int count) {
    if (count == 0) return distributions.one();
    if (probability_rank(distributions, prefix[0]) != 0) return distributions.zero();
    const auto rest = distributions.one() - distributions.proposal(prefix[0]);
    auto total = distributions.zero();
    for (Token y = 0; y < distributions.vocabulary(); ++y) {
      if (y == prefix[0]) continue;
      // The draft at index k has rank k if k is below y's rank, else rank k + 1; y comes last.
      const int passed = probability_rank(distributions, y);
      bool fits = true;
      for (int k = 1; k < count; ++k)
        fits = fits && (k == drafts - 1 ? prefix[k] == y
                                        : probability_rank(distributions, prefix[k]) == (k < passed ? k : k + 1));
      if (!fits) continue;
      total += rest > distributions.zero() ? distributions.proposal(y) / rest
                                           : distributions.one() / typename L::Scalar(distributions.vocabulary() - 1);
    }
    return total;
  }
};

}  // namespace draftproof::drafters
