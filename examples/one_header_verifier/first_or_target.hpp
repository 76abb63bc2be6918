// The same with a slip: after a refusal the token is drawn from all of p. It looks right, and its tokens look right
// too; `mine prove first_or_target` shows on two tokens why it is not.
#pragma once

#include <draftproof/sim/verifier.hpp>

namespace mine {

using namespace draftproof;

struct FirstOrTarget {
  static constexpr Info info{.name = "first_or_target",
                             .summary = "test the first draft, then draw from p: wrong on purpose",
                             .source = "an example",
                             .drafts = DraftLaws{"iid"}};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    return random.emit(at.residual(at.zero()));  // p - 0 q: what the accepted drafts served is served twice
  }
};

}  // namespace mine
