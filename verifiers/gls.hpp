// List coupling (GLS): K races of q draft, the first arrival over the same K races run with p is the token.
//
//   E^(k)_x   noise of stream k, token x               exponential of rate 1, read by drafter and verifier
//   x_k       argmin over x of E^(k)_x / q(x)          the drafter's part: drafters/races.hpp
//   Y         argmin over x and k of E^(k)_x / p(x)    ties to the lower id; q is never read
//
// Cost: K passes over the vocabulary and K V random words. Acceptance: optimum/race_acceptance.hpp; at least K p_j /
// (phi + K - 1) summed over j, the list matching bound. Source: Rowan, Phan and Khisti, arXiv:2506.05632. Exact
// because K races of rates p are one race of rates K p, whose winner has law p. Every stream is needed: from one
// stream alone the token is as exact, and other streams' drafts match by luck.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/coupling/race_of_target.hpp>

namespace draftproof::verifiers {

struct Gls {
  static constexpr Info info{.name = "gls",
                             .summary = "the first arrival of K races of p in the noise of the K drafts",
                             .source = "Rowan, Phan and Khisti, arXiv:2506.05632",
                             .drafts = DraftLaws{"gumbel_iid"},
                             .claims = race_of_target_claims,
                             .unsupported = race_of_target_cannot,
                             .shared_noise = true};

  template <Position P, NoiseSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    return race_of_target(at, at.drafts(), random);
  }
};

}  // namespace draftproof::verifiers
