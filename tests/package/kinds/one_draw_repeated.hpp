// A user-defined draft sampling: one draw of q, repeated K times.
#pragma once

#include <draftproof/sim/verifier.hpp>

namespace mine {

using namespace draftproof;

struct OneDrawRepeated {
  static constexpr DrafterInfo info{.name = "one_draw_repeated", .summary = "one draw of the proposal, K times over"};

  template <Distributions L, RandomSource R>
  int draw(const L& distributions, int drafts, R& random, Token* out) const {
    const Token x = random.pick(distributions.row(0));
    for (int k = 0; k < drafts; ++k) out[k] = x;
    return drafts;
  }
};

}  // namespace mine
