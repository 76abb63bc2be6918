// Shared race: the drafts are the first K arrivals of a race with rates q. The token is the winner of a race with rates
// p and the same noise.
//
//   E_x       noise of stream 0, token x        exponential of rate 1, read by drafter and verifier
//   x_1..x_K  first arrivals of E_x / q(x)      computed by the drafter: drafters/shared_noise.hpp
//   Y         argmin of E_x / p(x)              ties go to the lower id; q is not read
//
// Cost: one pass over the vocabulary and V random numbers for every K.
// Acceptance: optimum/race_acceptance.hpp; at K = 1 it equals the acceptance of the Gumbel coupling.
// Source: reconstruction of the Poisson scheme of arXiv:2609.21858, not checked against the paper; the formula is
// derived here and compared with simulation and reference values.
// Correctness: the winner of a race with rates p has distribution p.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/coupling/race_of_target.hpp>

namespace draftproof::verifiers {

struct GumbelTopKCoupling {
  static constexpr Info info{
      .name = "gumbel_top_k_coupling",
      .summary = "the winner of an exponential race of p, run on the noise whose first arrivals are the drafts",
      .source = "reconstruction of arXiv:2609.21858",
      .drafts = DraftSamplings{"gumbel_top_k"},
      .claims = race_of_target_claims,
      .unsupported = race_of_target_cannot,
      .shared_noise = true};

  template <Position P, NoiseSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    return race_of_target(at, 1, random);
  }
};

}  // namespace draftproof::verifiers
