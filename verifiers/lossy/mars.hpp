// If the margin between the two most probable tokens of p is small, accepts a draft that is one of the two tokens and
// replaces any other draft by a draw from p; else verifies by single-draft sampling. Lossy by design: if the margin is
// small, each of the two tokens is emitted whenever q drafts it, and also by draws from p after a refusal.
//
//   p_1, p_2     plan      the two largest target probabilities
//   ratio                  the margin is small if p_2 > ratio p_1
//
// Cost: two passes once per (p, q); at most one flip per trial, and one pass after a refusal.
// Source: Song et al. 2026 (MARS), arXiv:2601.15498, and its code. Differences: the published rule compares logits,
// z_2 > 0.9 z_1, which p does not determine; z_1 - z_2 = ln(p_1 / p_2), so for z_1 = 20 the ratio is exp(-2). In the
// code, a draft that was tested and refused lowers only its own weight; here the token is drawn from the lossless
// residual (p - q)+.
#pragma once

#include <draftproof/verifiers/lossy/relaxed_acceptance.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::verifiers::lossy {

struct Mars {
  static constexpr Info info{.name = "mars",
                             .summary = "take the first or second token of p if their margin is small",
                             .source = "Song et al. 2026 (MARS), arXiv:2601.15498; margin of probabilities",
                             .drafts = DraftSamplings{"iid"},
                             .promise = Promise::lossy,
                             .most_drafts = 1,
                             .ranks_tokens = true,
                             .derived_from = "single_draft"};

  double ratio = 0.135335283236612692;  // exp(-2)

  /// The two most probable tokens if the margin is small, otherwise no_token twice.
  struct Plan {
    Token first = no_token, second = no_token;
  };

  template <Distributions L>
  DRAFTPROOF_DEVICE Plan prepare(const L& distributions, int) const {
    const Token first = next_likeliest(distributions), second = next_likeliest(distributions, first);
    if (second == no_token) return {};
    const bool small = distributions.target(second) > typename L::Scalar(ratio) * distributions.target(first);
    return small ? Plan{first, second} : Plan{};
  }

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, const Plan& plan, R& random) const {
    const Token x = at.draft(0);
    if (plan.first == no_token) {
      if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
      return last_draw(at, random, at.residual(at.one()));
    }
    if (x == plan.first || x == plan.second) return accepted(x, 0);
    return random.emit(at.residual(at.zero()));
  }
};

}  // namespace draftproof::verifiers::lossy
