// Mutants: wrong accept tests of one draft. `Hidden` says where a bug does not show, `Smallest` gives a small
// instance that shows it: (1 2)/3 means (1/3, 2/3), TV is the total variation between output and p.
#pragma once

#include <cmath>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::mutants {

// Mutant: keeps the draft without a test.
//
// Cost: none.
// Source: a wrong count of matches kept every draft: huggingface/transformers#28508; rule of arXiv:2211.17192.
// Error: the output distribution is q.
// Hidden: at p = q only.
// Smallest: p = (0 1), q = (1 0): distribution (1 0), TV 1.
struct AcceptAlways {
  static constexpr Info info{.name = "accept_always",
                             .summary = "keep the draft without a test",
                             .source = "count of matches as in huggingface/transformers#28508",
                             .drafts = DraftSamplings{"iid"},
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R&) const {
    return accepted(at.draft(0), 0);
  }
};

// Mutant: two right rules joined into a wrong rule. A token y is drawn from p, and the draft x is kept if it equals y
// or if the ratio test passes; otherwise the residual of single-draft sampling follows.
//
//   y        random.pick(p)      a draw from the target
//
// Cost: a draw from p, a flip, a draw after a refusal.
// Source: alibaba/rtp-llm#1295.
// Error: each of the two tests alone is exact; together they accept more than min(p, q).
// Hidden: at p = q, and where p and q share no token.
// Smallest: p = (1 1)/2, q = (0 1): distribution (1 3)/4, TV 1/4.

struct AcceptIfMatchOrRatio {
  static constexpr Info info{.name = "accept_if_match_or_ratio",
                             .summary = "keep the draft if it equals a draw from p or passes the ratio test",
                             .source = "bug reported as alibaba/rtp-llm#1295",
                             .drafts = DraftSamplings{"iid"},
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    const Token y = random.pick(at.residual(at.zero()));
    if (x == y || random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    return last_draw(at, random, at.residual(at.one()));
  }
};

// Mutant: emits the most probable token of p, whatever was drafted; the emitted token counts as accepted if it was
// drafted.
//
// Source: greedy verification applied to sampling.
// Hidden: if p is a point mass.
struct ArgmaxMatch {
  static constexpr Info info{.name = "argmax_match",
                             .summary = "emit the most probable token of p",
                             .source = "greedy verification used for sampling",
                             .drafts = DraftSamplings{"iid"},
                             .derived_from = "sample_and_match"};

  template <Distributions L>
  DRAFTPROOF_DEVICE Token prepare(const L& distributions, int) const {
    Token best = 0;
    for (Token x = 1; x < distributions.vocabulary(); ++x)
      if (distributions.target(x) > distributions.target(best)) best = x;
    return best;
  }

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, Token best, R&) const {
    return accepted(best, find_draft(at, best));
  }
};

// Mutant: single-draft sampling with uniforms that are 32-bit integers scaled in float, so that the largest round to 1.
//
//   u        (float) x 2^-32        1 for 128 of 2^32 integers x; a draft with p = q is then refused
//
// Source: sgl-project/sglang#30822, found in review.
// Error: enumeration in exact arithmetic shows no error, and an error this rare does not show in samples. If a draft
// with p = q is refused, the residual can be empty, and the draw from the residual then has no weights.
// Smallest: p = q on one token, u = 1.
struct CoinCanBeOne {
  static constexpr Info info{.name = "coin_can_be_one",
                             .summary = "accept uniforms of 32 bits converted to float, so that the largest become 1",
                             .source = "sgl-project/sglang#30822, found in review",
                             .drafts = DraftSamplings{"iid"},
                             .most_drafts = 1,
                             .claims = {.accepts_equal_distributions = true, .one_draft_is_single_draft = true},
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (keeps(at.target(x), at.proposal(x), random)) return accepted(x, 0);
    return random.emit(at.residual(at.one()));
  }

 private:
  template <class Scalar, class R>
  DRAFTPROOF_DEVICE static bool keeps(const Scalar& p, const Scalar& q, R& random) {
    if constexpr (requires { random.next(Purpose::flip); }) {
      const auto word = static_cast<std::uint32_t>(random.next(Purpose::flip) >> 32);
      return static_cast<double>(static_cast<float>(word) * 0x1p-32f) * static_cast<double>(q) <
             static_cast<double>(p);
    } else {
      return random.flip(p, q);
    }
  }
};

// Mutant: single-draft sampling that keeps a draft without a test where p and q differ by less than a tenth.
//
//   e        1 / parts           smallest difference that is tested
//
// Cost: one flip, a draw after a refusal.
// Source: mlc-ai/mlc-llm#2236, where this rule is intended.
// Error: where p and q are both small, their difference is small too, so rare tokens are emitted as often as q drafts
// them.
// Hidden: at p = q, and where every token with p < q has q - p of at least e.
// Smallest: p = (1 2)/3, q = (1 3)/4: distribution (1 3)/4, TV 1/12.

struct EpsilonAccept {
  static constexpr Info info{.name = "epsilon_accept",
                             .summary = "keep the draft untested where p and q differ by less than 0.1",
                             .source = "mlc-ai/mlc-llm#2236",
                             .drafts = DraftSamplings{"iid"},
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  int parts = 10;

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    using Scalar = typename P::Scalar;
    const Token x = at.draft(0);
    const Scalar p = at.target(x), q = at.proposal(x);
    const Scalar apart = p > q ? Scalar(p - q) : Scalar(q - p);
    if (apart * Scalar(parts) < at.one() || random.flip(p, q)) return accepted(x, 0);
    return last_draw(at, random, at.residual(at.one()));
  }
};

// Mutant: single-draft sampling whose ratio test is a sum of logarithms in single precision.
//
//   keep     log p > log u + log q     floats next to log q are up to |log q| 2^-23 apart: if |log u| is less than
//                                      half this distance, the sum rounds to log q, and p = q is refused
//
// Source: vLLM 0.33.0, second model runner (docs/findings/engine-vllm-second-runner.md).
// Error: enumeration in exact arithmetic shows no error, and an error this rare does not show in samples. If a draft is
// refused where the rows are equal, the residual is empty and the draw has no weights.
// Visible: at p = q < 1/2 with uniforms close to 1.
// Hidden: where q = 1, because then log q = 0 and the sum is exact.

struct LogSpaceTest {
  static constexpr Info info{.name = "log_space_test",
                             .summary = "accept if log u + log q < log p, in single precision",
                             .source = "vllm-project/vllm 0.33.0; rule of arXiv:2211.17192",
                             .drafts = DraftSamplings{"iid"},
                             .most_drafts = 1,
                             .claims = {.accepts_equal_distributions = true, .one_draft_is_single_draft = true},
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (keeps(at.target(x), at.proposal(x), random)) return accepted(x, 0);
    return random.emit(at.residual(at.one()));
  }

 private:
  template <class Scalar, class R>
  DRAFTPROOF_DEVICE static bool keeps(const Scalar& p, const Scalar& q, R& random) {
    if constexpr (requires { random.next(Purpose::flip); }) {
      const auto u = static_cast<float>(random.next(Purpose::flip) >> 40) * 0x1p-24f;
      const float sum = std::log(u) + std::log(static_cast<float>(q));
      return std::log(static_cast<float>(p)) > sum;
    } else {
      return random.flip(p, q);
    }
  }
};

// Mutant: single-draft sampling that also accepts if u q equals p: the test is u q <= p, with u in [0, 1).
//
//   u        one uniform     can be 0: a draft with p = 0 is then accepted
//
// Source: sgl-project/sglang#35771.
// Error: a test is wrong with probability 2^-53, which neither enumeration in exact arithmetic nor samples show. With
// uniforms of b bits, one of the 2^b values gives a wrong result; at b = 4 the total variation is 1/32. Smallest: p=(0
// 1), q=(1 1)/2, u = 0.
struct NonStrictCompare {
  static constexpr Info info{.name = "non_strict_compare",
                             .summary = "accept if u q <= p, also if they are equal",
                             .source = "sgl-project/sglang#35771",
                             .drafts = DraftSamplings{"iid"},
                             .most_drafts = 1,
                             .claims = {.accepts_equal_distributions = true, .one_draft_is_single_draft = true},
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (keeps(at.target(x), at.proposal(x), random)) return accepted(x, 0);
    return last_draw(at, random, at.residual(at.one()));
  }

 private:
  /// In exact arithmetic the uniform is a real number, which equals p / q with probability 0, so the flip is the usual
  /// one.
  template <class Scalar, class R>
  DRAFTPROOF_DEVICE static bool keeps(const Scalar& p, const Scalar& q, R& random) {
    if constexpr (requires { random.next(Purpose::flip); })
      return unit_interval(random.next(Purpose::flip)) * static_cast<double>(q) <= static_cast<double>(p);
    else
      return random.flip(p, q);
  }
};

// Mutant: single-draft sampling with its ratio inverted: the draft is kept with probability min(1, q / p).
//
// Cost: one flip, a draw after a refusal.
// Source: a classic bug, p and q swapped in one line; rule of arXiv:2211.17192.
// Error: drafts with p below q are always kept.
// Hidden: at p = q only.
// Smallest: p = (1 2)/3, q = (2 1)/3: distribution (2 1)/3, TV 1/3.
struct RatioInverted {
  static constexpr Info info{.name = "ratio_inverted",
                             .summary = "keep the draft with min(1, q / p)",
                             .source = "classic bug; rule of arXiv:2211.17192",
                             .drafts = DraftSamplings{"iid"},
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    // A draft with p = 0 is kept, as by an engine that tests u p < q.
    if (!(at.target(x) > at.zero()) || random.flip(at.proposal(x), at.target(x))) return accepted(x, 0);
    return last_draw(at, random, at.residual(at.one()));
  }
};

// Mutant: every second decision by one verifier object accepts its first draft without a test, as if the first call
// had set a flag that is never reset.
//
//   calls_     decisions so far
//
// Source: derived here.
// Error: the same drafts and random bits give different tokens, so the output has no fixed distribution. A single
// decision is right, and so is a replay, which starts with a new verifier object. Hidden: in every first call.

struct SecondCallAccepts {
  static constexpr Info info{
      .name = "second_call_accepts",
      .summary = "every second decision accepts its draft without a test",
      .source = "derived here",
      .drafts = DraftSamplings{"iid"},
      .most_drafts = 1,
      .unsupported = {.simulate = "it counts its calls over all threads", .device = "it counts its calls"},
      .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (calls_++ % 2 == 1) return accepted(x, 0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    return last_draw(at, random, at.residual(at.one()));
  }

 private:
  mutable unsigned calls_ = 0;
};

}  // namespace draftproof::mutants
