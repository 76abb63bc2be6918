// The verifier of first_or_other.hpp with a bug: a rejected draft is replaced by a draw from all of p. Code and tokens
// look right; `mine prove first_or_target` refutes it with an instance of two tokens.
#pragma once

#include <draftproof/sim/verifier.hpp>

namespace mine {

using namespace draftproof;

struct FirstOrTarget {
  static constexpr Info info{.name = "first_or_target",
                             .summary = "test the first draft, then draw from p: wrong on purpose",
                             .source = "an example",
                             .drafts = DraftSamplings{"iid"}};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    return random.emit(at.residual(at.zero()));  // p - 0 q: the mass that accepted drafts emit is emitted twice
  }
};

}  // namespace mine
