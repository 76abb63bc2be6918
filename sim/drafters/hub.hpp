// SpecHub's two drafts: the most probable token of q, the hub, is always one of them.
//
//   a      laws.kth_most_probable(0)     hub; ties go to the lower id
//   x_1    q
//   x_2    a if x_1 is not a; otherwise q outside a, renormalised, and uniform outside a if q has no mass there
//
// Source: Sun et al. 2024 (SpecHub), arXiv:2411.05289.
#pragma once

#include <draftproof/sim/sampling/complement.hpp>
#include <draftproof/sim/sampling/top_k.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::drafters {

struct Hub {
  static constexpr DrafterInfo info{.name = "hub",
                                    .summary = "two drafts, one of them the most probable token of q",
                                    .needs_k_tokens = true,
                                    .ranks_tokens = true,
                                    .fewest_drafts = 2,
                                    .most_drafts = 2};

  /// Writes two distinct drafts to `out`; returns 2.
  template <Laws L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& laws, int, R& random, Token* out) const {
    const Token hub = laws.kth_most_probable(0);
    out[0] = random.pick(laws.row(0));
    if (out[0] != hub) {
      out[1] = hub;
    } else if (laws.mass_without(0, &hub, 1) > laws.zero()) {
      out[1] = random.pick(laws.row_without(0, &hub, 1));
    } else {
      out[1] = random.pick(UniformOnComplement{laws.vocabulary(), &hub, 1});
    }
    return 2;
  }

  /// The declared probability that the tuple begins with the `count` tokens at `prefix`.
  template <class L>
  static typename L::Scalar mass(const L& laws, int, const Token* prefix, int count) {
    if (count == 0) return laws.one();
    const auto q = laws.proposal(prefix[0]);
    const bool hub_first = probability_rank(laws, prefix[0]) == 0;
    if (count == 1) return q;
    if (!hub_first) return probability_rank(laws, prefix[1]) == 0 ? q : laws.zero();
    if (prefix[1] == prefix[0]) return laws.zero();
    if (q < laws.one()) return q * laws.proposal(prefix[1]) / (laws.one() - q);
    return q / typename L::Scalar(laws.vocabulary() - 1);
  }
};

}  // namespace draftproof::drafters
