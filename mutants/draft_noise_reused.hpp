// Single-draft sampling whose residual draw is a race in the noise the draft was drawn by.
//
//   E_x      noise of stream 0           the draft is argmin E / q, the correction argmin E / (p - q)+
//
// Source: vllm-project/vllm#47386, fixed by #54282. That x won the race of q says of every other clock that it is late,
// of those with much q most: the correction leans to tokens with little q. Exact where the residual has one token, so
// V = 3 is the smallest. No explorer can walk noise; the ledger sees words read by both, trials see the law.
#pragma once

#include <draftproof/sim/race.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::mutants {

struct DraftNoiseReused {
  static constexpr Info info{.name = "draft_noise_reused",
                             .summary = "draw the correction by the race noise that drew the draft",
                             .source = "vllm-project/vllm#47386, fixed by #54282",
                             .drafts = DraftLaws{"races"},
                             .most_drafts = 1,
                             .claims = {.accepts_equal_laws = true, .one_draft_is_single_draft = true},
                             .cannot = {.explore = "its correction is drawn by noise that the drafter reads too"}};

  template <Position P, NoiseSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    const auto left = [&at](Token y) {
      const auto weight = at.target(y) - at.proposal(y);
      return weight > at.zero() ? weight : at.zero();
    };
    return {race<1>(at.laws(), 0, 1, 1, left, random)[0].token, none_accepted};
  }
};

}  // namespace draftproof::mutants
