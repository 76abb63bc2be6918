// The verdict that couplings by races share: the winner of a race of p is emitted, and counts as accepted if it was
// drafted. Schemes differ in the drafter that reads the noise and in the number of streams that race.
//
//   E^(k)_x   noise of stream k, token x               exponential of rate 1, read by drafter and verifier
//   Y         argmin over x and k of E^(k)_x / p(x)    ties go to the lower id; q is not read
//
// Cost: one pass over the vocabulary per stream.
// Source: Daliri et al., arXiv:2408.07978 (one stream); Rowan, Phan and Khisti, arXiv:2506.05632 (several).
// Correctness: n races of rates p are one race of rates n p, whose winner has distribution p.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/sim/position.hpp>
#include <draftproof/sim/sampling/exponential_race.hpp>

namespace draftproof {

/// The claims (Info) that all schemes have whose token depends on p and the noise alone.
inline constexpr Claims race_of_target_claims{
    .accepts_equal_distributions = true, .emitted_drafts_are_accepted = true, .drafter_invariant = true};
inline constexpr Unsupported race_of_target_cannot{
    .explore = "its randomness is continuous noise that the drafter reads too"};

/// Returns the verdict of a race of p over the noise of the first `streams` streams.
template <Position P, NoiseSource R>
DRAFTPROOF_DEVICE Verdict race_of_target(const P& at, int streams, R& random) {
  const auto winner = race<1>(
      at.distributions(), 0, streams, 1, [&at](Token x) { return at.target(x); }, random);
  return matched(at, {winner[0].token, none_accepted});
}

}  // namespace draftproof
