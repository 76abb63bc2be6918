// Mutant: every second decision of a plan accepts its first draft without a coin, as a flag does that a first call
// sets and nothing resets.
//
//   calls_     decisions so far
//
// Source: derived here.
// Error: no law: the same drafts and coins give different tokens. A single decision, and so a replay that begins
// anew, is right.
// Hidden: in every first call.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/last_draw.hpp>

namespace draftproof::mutants {

struct SecondCallAccepts {
  static constexpr Info info{
      .name = "second_call_accepts",
      .summary = "every second decision accepts its draft without a coin",
      .source = "derived here",
      .drafts = DraftLaws{"iid"},
      .most_drafts = 1,
      .unsupported = {.simulate = "it counts its calls, of all threads", .device = "it counts its calls"},
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
