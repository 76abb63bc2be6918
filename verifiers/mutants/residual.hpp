// Mutants: wrong corrections after a rejected draft. `Hidden` says where a bug does not show, `Smallest` gives a
// small instance that shows it: (1 2)/3 means (1/3, 2/3), TV is the total variation between output and p.
#pragma once

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/dual_key_gumbel.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::mutants {

// Mutant: single-draft sampling whose accept uniform is also the threshold of the draw from the residual.
//
//   u        one uniform    after a refusal u >= a = p / q, so the draw uses only the upper part of [0, 1)
//   R        running sums of (p - q)+ / F in token order: token x is drawn for u in [R_x, R_(x+1))
//
// Source: vllm-project/vllm-ascend#16370.
// Error: after a refusal token x has as probability the overlap of its interval with [a, 1); enumeration computes it.
// Hidden: where the residual has one token.
// Smallest: p=(1 1 1)/3, q=(0 0 1) gives (1 3 2)/6, TV 1/6.

struct CoinReusedAsThreshold {
  static constexpr Info info{.name = "coin_reused_as_threshold",
                             .summary = "draw from the residual with the accept uniform, used a second time",
                             .source = "vllm-project/vllm-ascend#16370",
                             .drafts = DraftSamplings{"iid"},
                             .most_drafts = 1,
                             .claims = {.accepts_equal_distributions = true, .one_draft_is_single_draft = true},
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    const auto residual = at.residual(at.one());
    if constexpr (requires { random.next(Purpose::flip); }) {
      const std::uint64_t coin = random.next(Purpose::flip);
      if (unit_interval(coin) * static_cast<double>(at.proposal(x)) < static_cast<double>(at.target(x)))
        return accepted(x, 0);
      const Token left = residual.draw(coin);
      return {left != no_token ? left : at.residual(at.zero()).draw(coin), none_accepted};
    } else {
      if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
      using Scalar = typename P::Scalar;
      return random.emit(
          Overlaps<Scalar, decltype(residual)>{residual, at.target(x) / at.proposal(x), at.residual_mass(at.one())});
    }
  }

 private:
  /// Weights equal to the part of each token's interval of [0, 1) that is above `from`. Only enumeration uses these
  /// weights; no token is drawn from them by random bits.
  template <class Scalar, class W>
  struct Overlaps {
    const W& weights;
    Scalar from, total;

    template <class Visit>
    void for_each(Visit visit) const {
      Scalar low{0};
      weights.for_each([&](Token x, const auto& weight) {
        const Scalar high = low + weight / total;
        if (const Scalar left = high - (low < from ? from : low); left > Scalar{0}) visit(x, left);
        low = high;
      });
    }
  };
};

// Mutant: the right accept test, then after a refusal a draw from p instead of the residual.
//
//   p        at.target(x)     target probability of token x
//   q        at.proposal(x)   probability the draft was drawn with
//
// Source: a bug reported in public verifiers (alibaba/rtp-llm#1295).
// Error: accepted drafts already emitted min(p, q); a draw from all of p emits this mass twice.
// Hidden: when p = q and when p and q are disjoint.
struct ResampleFromTarget {
  static constexpr Info info{.name = "resample_from_target",
                             .summary = "after a refusal draw from p, not from (p - q)+",
                             .source = "bug reported as alibaba/rtp-llm#1295",
                             .drafts = DraftSamplings{"iid"},
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    return random.emit(at.residual(at.zero()));
  }
};

// Mutant: the right accept test, then the most probable token of the residual instead of a draw; ties go to the lower
// id.
//
//   best     plan             argmax of p - q
//
// Cost: one flip, a scan of the vocabulary once per (p, q).
// Source: a bug of the kind of vllm-project/vllm#10863.
// Error: the other tokens of the residual are never emitted.
// Hidden: at p = q and where the residual has one token, so at V = 2.
// Smallest: p = (0 1 1)/2, q = (1 0 0): distribution (0 1 0), TV 1/2.

struct ResidualArgmax {
  static constexpr Info info{.name = "residual_argmax",
                             .summary = "after a refusal emit the most probable token of (p - q)+",
                             .source = "family of vllm-project/vllm#10863",
                             .drafts = DraftSamplings{"iid"},
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  template <Distributions L>
  DRAFTPROOF_DEVICE Token prepare(const L& distributions, int) const {
    Token best = 0, top = 0;
    for (Token x = 1; x < distributions.vocabulary(); ++x) {
      if (distributions.target(x) - distributions.proposal(x) >
          distributions.target(best) - distributions.proposal(best))
        best = x;
      if (distributions.target(x) > distributions.target(top)) top = x;
    }
    return distributions.target(best) > distributions.proposal(best) ? best
                                                                     : top;  // rounding may have left no residual
  }

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, Token best, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    return {best, none_accepted};
  }
};

// Mutant: the right accept test; after a refusal a draw from p in which only the refused token's entry is lowered by
// q and clipped at 0. Setting that entry to 0 has the same distribution, since a refused token has p < q.
//
//   p        at.target(x)     target probability of token x
//   q        at.proposal(x)   probability the draft was drawn with
//
// Cost: one flip, a pass after a refusal.
// Source: SafeAILab/EAGLE#20, xLLM-AI/xllm#2175.
// Error: accepted drafts emit every token of q, so all entries must be lowered, not only the entry of the refused
// token.
// Hidden: at p = q, at V = 2 and where the residual has one token besides the refused one.
// Smallest: p = (0 1 1)/2, q = (1 0 1)/2: distribution (0 1 3)/4, TV 1/4.

struct ResidualLowersOneEntry {
  static constexpr Info info{.name = "residual_lowers_one_entry",
                             .summary = "after a refusal draw from p without the refused token",
                             .source = "bug reported as SafeAILab/EAGLE#20 and xLLM-AI/xllm#2175",
                             .drafts = DraftSamplings{"iid"},
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    using Scalar = typename P::Scalar;
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    return last_draw(at, random, at.weights([&at, x](Token y) -> Scalar {
      const Scalar lowered = y == x ? Scalar(at.target(y) - at.proposal(y)) : Scalar(at.target(y));
      return lowered > at.zero() ? lowered : at.zero();
    }));
  }
};

// Mutant: single-draft sampling whose residual subtracts two lists entry by entry. A list has the tokens of a row
// that are possible, by ascending id, as top-k leaves them.
//
//   p        at.target(x)        target probability of token x
//   q        at.proposal(x)      probability the draft was drawn with
//   q'       paired[x]           q of the r-th possible token of q, where x is the r-th possible token of p; 0 if
//                                there is no such token
//
// Cost: V entries per plan, one flip, a pass after a refusal.
// Source: llama.cpp, examples/speculative (docs/findings/engine-llama-cpp-speculative.md).
// Error: a refusal emits (p - q')+, not (p - q)+.
// Hidden: where p and q have the same possible tokens, so without top-k.

struct ResidualPairedByPosition {
  static constexpr Info info{
      .name = "residual_paired_by_position",
      .summary = "after a rejection subtract q from p by index among the possible tokens, not by id",
      .source = "ggml-org/llama.cpp, examples/speculative; rule of arXiv:2211.17192",
      .drafts = DraftSamplings{"iid"},
      .most_drafts = 1,
      .unsupported = {.device = "the plan keeps V entries on the host"},
      .derived_from = "single_draft"};

  template <class Scalar>
  struct Pairs {
    std::vector<Scalar> paired;
  };

  template <Distributions L>
  Pairs<typename L::Scalar> prepare(const L& distributions, int) const {
    std::vector<typename L::Scalar> paired(static_cast<std::size_t>(distributions.vocabulary()),
                                           distributions.zero());
    Token behind = 0;  // all possible tokens of q with smaller ids are already paired
    for (Token x = 0; x < distributions.vocabulary(); ++x) {
      if (!(distributions.target(x) > distributions.zero())) continue;
      while (behind < distributions.vocabulary() && !(distributions.proposal(behind) > distributions.zero()))
        ++behind;
      if (behind < distributions.vocabulary()) paired[static_cast<std::size_t>(x)] = distributions.proposal(behind++);
    }
    return {std::move(paired)};
  }

  template <Position P, RandomSource R>
  Verdict verify(const P& at, const Pairs<typename P::Scalar>& pairs, R& random) const {
    using Scalar = typename P::Scalar;
    const auto left = [&at, &pairs](Token x) -> Scalar {
      const Scalar weight = at.target(x) - pairs.paired[static_cast<std::size_t>(x)];
      return weight > at.zero() ? weight : at.zero();
    };
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    if (at.sum(left) > at.zero()) return random.emit(at.weights(left));
    return random.emit(at.residual(at.zero()));
  }
};

// Mutant: single-draft sampling that draws from the residual alone, also where the residual has no mass because of
// rounding. Released verifiers then divide the residual by its sum 0, and draw from 0 / 0.
//
// Source: engines that normalise (p - q)+ by its sum, without a lower bound and without a test.
// Error: none in exact arithmetic, where a refusal leaves a residual.
// Visible: where by rounding p < q at some token and p > q at no token; after a refusal there is then no token that can
// be drawn.
// Smallest: p=(1), q=(1) with p one unit below q, the largest uniform.
struct ResidualWithoutMass {
  static constexpr Info info{.name = "residual_without_mass",
                             .summary = "draw from the residual without a check that it has mass",
                             .source = "engines that divide (p - q)+ by its sum, untested",
                             .drafts = DraftSamplings{"iid"},
                             .most_drafts = 1,
                             .claims = {.accepts_equal_distributions = true, .one_draft_is_single_draft = true},
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    return random.emit(at.residual(at.one()));
  }
};

// Mutant: single-draft sampling with the residual clamped from below by the smallest positive number, so that a
// residual without mass is uniform over all tokens. The ratio is a product with 1 / q, which may round below 1 at p =
// q.
//
//   tiny     smallest normal number of the scalar     0 in fractions: nothing is clamped there
//
// Source: vllm-project/vllm#2336.
// Error: the probabilities are wrong by 2^-1022 in double; enumeration in exact arithmetic shows no error.
// Visible: with a uniform of 0, which draws the first token whatever its weight, and after a refusal at p = q.
// Smallest: p=(0 1), q=(1 0), all uniforms 0.

struct ZeroResidualBecomesUniform {
  static constexpr Info info{.name = "zero_residual_becomes_uniform",
                             .summary = "clamp the residual from below, so that an empty one is uniform",
                             .source = "vllm-project/vllm#2336",
                             .drafts = DraftSamplings{"iid"},
                             .most_drafts = 1,
                             .claims = {.accepts_equal_distributions = true, .one_draft_is_single_draft = true},
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    using Scalar = typename P::Scalar;
    const Token x = at.draft(0);
    if (keeps(at.target(x), at.proposal(x), random)) return accepted(x, 0);
    return random.emit(
        at.weights([&at](Token y) -> Scalar { return clamped(Scalar(at.target(y) - at.proposal(y))); }));
  }

 private:
  template <class Scalar>
  static constexpr Scalar tiny = std::numeric_limits<Scalar>::min();

  template <class Scalar>
  DRAFTPROOF_DEVICE static Scalar clamped(const Scalar& left) {
    if constexpr (std::numeric_limits<Scalar>::has_infinity)
      return left > tiny<Scalar> ? left : Scalar(tiny<Scalar>);
    else
      return left > Scalar{0} ? left : Scalar{0};
  }
  template <class Scalar, class R>
  DRAFTPROOF_DEVICE static bool keeps(const Scalar& p, const Scalar& q, R& random) {
    if constexpr (requires { random.next(Purpose::flip); })
      return unit_interval(random.next(Purpose::flip)) < static_cast<double>(p) * (1 / static_cast<double>(q));
    else
      return random.flip(p, q);
  }
};

// Mutant: single-draft sampling whose residual draw is a race in the noise that drew the draft.
//
//   E_x      noise of stream 0           the draft is argmin E / q, the correction argmin E / (p - q)+
//
// Source: vllm-project/vllm#47386, fixed by #54282.
// Error: if x won the race of q at time T, the noise E of every other token is above q T, so the correction favours
// tokens with little q. Noise cannot be enumerated; the check draw_count finds the reused bits, and trials find the
// wrong distribution.
// Hidden: where q / (p - q) is equal on all tokens with p > q, as it is if only one token has p > q, so below V = 3.
// Smallest: p=(1 1 1)/3, q=(8 1 3)/12 gives (10 11 9)/30, TV 1/30. This is computed by hand: T and the excess of each E
// over q T are exponential variables.

struct DraftNoiseReused {
  static constexpr Info info{
      .name = "draft_noise_reused",
      .summary = "draw the correction with the noise that drew the draft",
      .source = "vllm-project/vllm#47386, fixed by #54282",
      .drafts = DraftSamplings{"gumbel_iid"},
      .most_drafts = 1,
      .claims = {.accepts_equal_distributions = true, .one_draft_is_single_draft = true},
      .unsupported = {.explore = "its correction is drawn by noise that the drafter reads too"},
      .derived_from = "single_draft"};

  template <Position P, NoiseSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    return single_draft_by_noise(at, 0, random);
  }
};

// Mutant: single-draft sampling under keys whose residual draw is a race under the key of the draft.
//
//   E_x      noise of stream 0, the only key    the draft is argmin E / q, the correction argmin E / (p - q)+
//
// Source: derived here, after the requirement of two keys in vllm-project/vllm#56122.
// Error: as for draft_noise_reused. The scheme declares that it reads the drafter's noise, so only the property
// unbiased_over_keys, which checks the distribution over keys, shows the error.
// Hidden: as for draft_noise_reused.
// Small: p=(0 2 1)/3, q=(2 1 0)/3 gives (0 7 5)/12, TV 1/12. Draft 0 wins at an exponential time T of rate 1 and is
// refused; token 1 then arrives at T + 3 E', token 2 at 3 E, and token 1 is first with probability (1/2) / (1 + 1/3).

struct OneKeyGumbel {
  static constexpr Info info{
      .name = "one_key_gumbel",
      .summary = "single-draft sampling under one key for the draft and the correction",
      .source = "derived here, after vllm-project/vllm#56122",
      .drafts = DraftSamplings{"gumbel_iid"},
      .most_drafts = 1,
      .claims = {.accepts_equal_distributions = true, .one_draft_is_single_draft = true},
      .unsupported = {.explore = "its correction is drawn by noise that the drafter reads too"},
      .shared_noise = true,
      .derived_from = "dual_key_gumbel"};

  template <Position P, NoiseSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    return single_draft_by_noise(at, 0, random);
  }
};

}  // namespace draftproof::mutants
