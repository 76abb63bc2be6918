// Mutant: the right accept test, then the most probable token of the residual instead of a draw; of equals the lower
// id.
//
//   best     plan             argmax of p - q
//
// Cost: one flip, a scan of the vocabulary once per (p, q).
// Source: family of vllm-project/vllm#10863.
// Error: the other tokens of the residual are never served.
// Hidden: at p = q and where the residual has one token, so at V = 2.
// Smallest: p = (0 1 1)/2, q = (1 0 0): law (0 1 0), TV 1/2.
#pragma once

#include <draftproof/sim/verifier.hpp>

namespace draftproof::mutants {

struct ResidualArgmax {
  static constexpr Info info{.name = "residual_argmax",
                             .summary = "after a refusal emit the most probable token of (p - q)+",
                             .source = "family of vllm-project/vllm#10863",
                             .drafts = DraftLaws{"iid"},
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  template <Laws L>
  DRAFTPROOF_DEVICE Token prepare(const L& laws, int) const {
    Token best = 0, top = 0;
    for (Token x = 1; x < laws.vocabulary(); ++x) {
      if (laws.target(x) - laws.proposal(x) > laws.target(best) - laws.proposal(best)) best = x;
      if (laws.target(x) > laws.target(top)) top = x;
    }
    return laws.target(best) > laws.proposal(best) ? best : top;  // rounding may have left no residual
  }

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, Token best, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    return {best, none_accepted};
  }
};

}  // namespace draftproof::mutants
