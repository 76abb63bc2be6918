// SpecHub's two drafts: the most probable token of q, the hub, is always one of them.
//
//   a      laws.top(0)     hub; ties go to the lower id
//   x_1    q               if it is not a, then x_2 = a; if it is a, then x_2 is q outside a, renormalised
//
// Uniform outside the hub if q has no mass there. Source: Sun et al. 2024 (SpecHub), arXiv:2411.05289.
#pragma once

#include <draftproof/sim/outside.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::drafters {

struct Hub {
  static constexpr DrafterInfo info{.name = "hub",
                                    .summary = "two drafts, one of them the most probable token of q",
                                    .needs_k_tokens = true,
                                    .ranks_tokens = true,
                                    .fewest_drafts = 2,
                                    .most_drafts = 2};

  template <Laws L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& laws, int, R& random, Token* out) const {
    const Token hub = laws.top(0);
    out[0] = random.pick(laws.row(0));
    if (out[0] != hub) {
      out[1] = hub;
    } else if (laws.mass_without(0, &hub, 1) > laws.zero()) {
      out[1] = random.pick(laws.row_without(0, &hub, 1));
    } else {
      out[1] = random.pick(UniformOutside{laws.vocabulary(), &hub, 1});
    }
    return 2;
  }
};

}  // namespace draftproof::drafters
