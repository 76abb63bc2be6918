// Drafts without replacement through shared noise: the first K arrivals of one race of q, in the order of arrival.
// Fewer drafts where q has fewer tokens.
//
//   E_x    noise of stream 0, token x     exponential of rate 1; x arrives at E_x / q(x), never if q(x) = 0
//
// Cost: one pass over the vocabulary.
// Correctness: exponential clocks are memoryless: given the arrivals so far, the next one has law q on the rest.
// Source: the first arrivals of one race as drafts: reconstruction of the Poisson scheme of arXiv:2609.21858, not
// checked against the paper.
#pragma once

#include <draftproof/sim/drafters/without_replacement.hpp>
#include <draftproof/sim/sampling/exponential_race.hpp>

namespace draftproof::drafters {

struct GumbelTopK {
  using Marginal = WithoutReplacement;
  static constexpr DrafterInfo info{.name = "gumbel_top_k",
                                    .summary = "the first K arrivals of one race of shared noise",
                                    .marginal_law_of = "without_replacement"};

  /// Writes up to K distinct drafts to `out`; returns their number, less than K if q has fewer tokens.
  template <Laws L, NoiseSource R>
  DRAFTPROOF_DEVICE int draw(const L& laws, int drafts, R& random, Token* out) const {
    const auto arrivals = race<max_drafts>(
        laws, 0, 1, drafts, [&laws](Token x) { return laws.proposal(x); }, random);
    for (int k = 0; k < arrivals.size(); ++k) out[k] = arrivals[k].token;
    return arrivals.size();
  }
};

}  // namespace draftproof::drafters
