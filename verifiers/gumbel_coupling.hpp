// Gumbel coupling: the draft is the winner of a race of exponential clocks with rates q, the token the winner of a race
// with rates p on the same noise.
//
//   E_x    noise of stream 0, token x     exponential of rate 1, read by drafter and verifier
//   x_1    argmin of E_x / q(x)           computed by the drafter: drafters/shared_noise.hpp
//   Y      argmin of E_x / p(x)           ties go to the lower id; q is not read
//
// Cost: one pass over the vocabulary and V random numbers.
// Acceptance: sum over j of 1 / sum_i max(p_i/p_j, q_i/q_j), below single-draft sampling; in return the token does
// not depend on the drafter.
// Source: Daliri et al., arXiv:2408.07978.
// Correctness: the winner of a race with rates p has distribution p.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/coupling/race_of_target.hpp>

namespace draftproof::verifiers {

struct GumbelCoupling {
  static constexpr Info info{
      .name = "gumbel_coupling",
      .summary =
          "the winner of an exponential race of p, run on the noise that drew the draft; accepted if they are equal",
      .source = "Daliri et al., arXiv:2408.07978",
      .drafts = DraftSamplings{"gumbel_iid"},
      .most_drafts = 1,
      .claims = race_of_target_claims,
      .unsupported = race_of_target_cannot,
      .shared_noise = true};

  template <Position P, NoiseSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    return race_of_target(at, 1, random);
  }
};

}  // namespace draftproof::verifiers
