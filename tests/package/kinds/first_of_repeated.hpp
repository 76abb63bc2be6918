// A verifier for a user-defined draft sampling. It tests the first draft with min(1, p / q).
#pragma once

#include <draftproof/sim/verifier.hpp>

namespace mine {

using namespace draftproof;

struct FirstOfRepeated {
  static constexpr Info info{.name = "first_of_repeated",
                             .summary = "test the first of equal drafts",
                             .source = "a test",
                             .drafts = DraftSamplings{"one_draw_repeated"}};

  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    return random.emit(at.residual(at.one()));
  }
};

}  // namespace mine
