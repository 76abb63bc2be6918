// Single-draft sampling under two keys: the draft is the winner of a race of q under key A, and the correction the
// winner of a race of (p - q)+ under key B. Given the keys and the coin of the accept test, the token is determined; a
// watermark derives the coin from a key too. Over uniform keys the distribution of the token is p.
//
//   E^A_x    noise of stream 0                    read by the drafter: drafters/shared_noise.hpp
//   E^B_x    noise of stream 0 of the second key  read for the correction
//
// In simulations the number of a trial takes the role of the key: noise and coin are functions of the seed and this
// number.
//
// Cost: one flip; one pass over the vocabulary and V random numbers after a refusal.
// Acceptance: sum min(p, q), as for single_draft.
// Source: the two keys of vllm-project/vllm#56122, for noise as in SynthID-Text (Dathathri et al. 2024, Nature 634).
// Correctness: streams of noise and the coin are independent, so the correction is a draw from the residual, whatever
// the draft, as in single_draft. With one key the correction depends on the draft: mutant one_key_gumbel.
#pragma once

#include <draftproof/sim/sampling/exponential_race.hpp>
#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof {

/// Kind of the streams of a second key: its stream s has the number second_key + s. Streams of darts
/// (minhash_rejection.hpp) have the same kind, but no scheme reads both.
inline constexpr int second_key = 2 * static_cast<int>(stream_numbers);

/// Returns the verdict on the first draft, with a correction by the noise of `stream`. Lossless if the draft was not
/// drawn by this noise.
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

namespace draftproof::verifiers {

struct DualKeyGumbel {
  static constexpr Info info{
      .name = "dual_key_gumbel",
      .summary = "accept the draft of a race under one key with min(1, p/q), else race (p - q)+ under a second key",
      .source = "vllm-project/vllm#56122",
      .drafts = DraftSamplings{"gumbel_iid"},
      .most_drafts = 1,
      .claims = {.accepts_equal_distributions = true,
                 .one_draft_is_single_draft = true,
                 .emitted_drafts_are_accepted = true},
      .unsupported = {.explore = "its correction is drawn by continuous noise"},
      .shared_noise = true};

  template <Position P, NoiseSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    return single_draft_by_noise(at, second_key, random);
  }
};

}  // namespace draftproof::verifiers
