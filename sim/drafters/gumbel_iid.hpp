// K i.i.d. drafts through shared noise: draft k wins the race of q in stream k.
//
//   E^(k)_x   noise of stream k, token x        exponential of rate 1
//   x_k       argmin of E^(k)_x / q(x)          ties to the lower id
//
// Cost: K passes over the vocabulary.
// Correctness: streams are independent, so the drafts are independent.
// Source: Daliri et al., arXiv:2408.07978 (K = 1); Rowan, Phan and Khisti, arXiv:2506.05632 (K streams).
#pragma once

#include <draftproof/sim/drafters/iid.hpp>
#include <draftproof/sim/sampling/exponential_race.hpp>

namespace draftproof::drafters {

struct GumbelIid {
  using Marginal = Iid;
  static constexpr DrafterInfo info{.name = "gumbel_iid",
                                    .summary = "K draws of one proposal, each the winner of a race of shared noise",
                                    .marginal_law_of = "iid"};

  /// Writes K drafts to `out`; returns K.
  template <Laws L, NoiseSource R>
  DRAFTPROOF_DEVICE int draw(const L& laws, int drafts, R& random, Token* out) const {
    for (int k = 0; k < drafts; ++k)
      out[k] = race<1>(
                   laws, k, 1, 1, [&laws](Token x) { return laws.proposal(x); }, random)[0]
                   .token;
    return drafts;
  }
};

}  // namespace draftproof::drafters
