// List coupling (GLS): the drafts are the winners of K races of q; the token is the first arrival over the same K
// races run with p.
//
//   E^(k)_x   noise of stream k, token x               exponential of rate 1, read by drafter and verifier
//   x_k       argmin over x of E^(k)_x / q(x)          computed by the drafter: drafters/shared_noise.hpp
//   Y         argmin over x and k of E^(k)_x / p(x)    ties go to the lower id; q is not read
//
// Cost: K passes over the vocabulary and K V random numbers.
// Acceptance: at least sum_j K p_j / (phi_j + K - 1), phi_j = sum_i max(p_i, q_i p_j / q_j) (race_acceptance.hpp).
// Source: Rowan, Phan and Khisti, arXiv:2506.05632.
// Correctness: K races of rates p are one race of rates K p, and its winner has distribution p. If the verifier read
// only one stream of noise, the output would still have distribution p, but drafts of the other streams would match it
// only by chance, so all streams are read.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/coupling/race_of_target.hpp>

namespace draftproof::verifiers {

struct Gls {
  static constexpr Info info{
      .name = "gls",
      .summary = "the first arrival in K exponential races of p, run on the noise that drew the K drafts",
      .source = "Rowan, Phan and Khisti, arXiv:2506.05632",
      .drafts = DraftSamplings{"gumbel_iid"},
      .claims = race_of_target_claims,
      .unsupported = race_of_target_cannot,
      .shared_noise = true};

  template <Position P, NoiseSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    return race_of_target(at, at.drafts(), random);
  }
};

}  // namespace draftproof::verifiers
