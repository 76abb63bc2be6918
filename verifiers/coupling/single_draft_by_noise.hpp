// Single-draft sampling whose correction is the winner of an exponential race of the residual, as watermarked and
// reproducible samplers draw it: the noise is a function of a key.
//
//   E_x    noise of stream `stream`, token x    exponential of rate 1
//   Y      argmin of E_x / (p(x) - q(x))+       after a refusal; ties go to the lower id
//
// Cost: one flip; one pass over the vocabulary after a refusal.
// Correctness: lossless if the draft was not drawn by the noise of this stream, because the clocks of the race are then
// independent of the draft and Y has the distribution of the residual.
#pragma once

#include <draftproof/sim/position.hpp>
#include <draftproof/sim/sampling/exponential_race.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof {

/// Kind of the streams of a second key: its stream s has the number second_key + s. Streams of darts
/// (minhash_rejection.hpp) have the same kind, but no scheme reads both.
inline constexpr int second_key = 2 * static_cast<int>(stream_numbers);

/// Returns the verdict on the first draft, with a correction by the noise of `stream`.
template <Position P, NoiseSource R>
DRAFTPROOF_DEVICE Verdict single_draft_by_noise(const P& at, int stream, R& random) {
  const Token x = at.draft(0);
  if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
  const auto left = [&at](Token y) {
    const auto weight = at.target(y) - at.proposal(y);
    return weight > at.zero() ? weight : at.zero();
  };
  const Token won = race<1>(at.distributions(), stream, 1, 1, left, random)[0].token;
  if (won != no_token) return {won, none_accepted};
  return last_draw(at, random, at.residual(at.one()));  // the residual is zero because of rounding
}

}  // namespace draftproof
