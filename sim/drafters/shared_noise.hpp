// Drafters that draw by shared noise, which their verifiers read too.
#pragma once

#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/sim/sampling/exponential_race.hpp>
#include <draftproof/sim/sampling/minhash_rejection.hpp>

namespace draftproof::drafters {

// K i.i.d. drafts by shared noise: draft k wins the race of q in stream k (exponential_race.hpp).
//
//   E^(k)_x   noise of stream k, token x        exponential of rate 1
//   x_k       argmin of E^(k)_x / q(x)          ties to the lower id
//
// Cost: K passes over the vocabulary.
// Correctness: streams are independent, so the drafts are independent.
// Source: Daliri et al., arXiv:2408.07978 (K = 1); Rowan, Phan and Khisti, arXiv:2506.05632 (K streams).
struct GumbelIid {
  using Marginal = Iid;
  static constexpr DrafterInfo info{
      .name = "gumbel_iid",
      .summary = "K draws of one proposal, each the winner of an exponential race on noise shared with the verifier",
      .marginal_sampling_of = "iid"};

  /// Writes K drafts to `out`; returns K.
  template <Distributions L, NoiseSource R>
  DRAFTPROOF_DEVICE int draw(const L& distributions, int drafts, R& random, Token* out) const {
    for (int k = 0; k < drafts; ++k)
      out[k] = race<1>(
                   distributions, k, 1, 1, [&distributions](Token x) { return distributions.proposal(x); }, random)[0]
                   .token;
    return drafts;
  }
};

// Drafts without replacement by shared noise: the first K arrivals of one race of q, in the order of arrival; fewer
// if q has fewer tokens.
//
//   E_x    noise of stream 0, token x     exponential of rate 1; x arrives at E_x / q(x), never if q(x) = 0
//
// Cost: one pass over the vocabulary.
// Correctness: exponential clocks are memoryless: given the arrivals so far, the next token has distribution q on the
// remaining tokens.
// Source: reconstruction of the Poisson scheme of arXiv:2609.21858, not checked against the paper.

struct GumbelTopK {
  using Marginal = WithoutReplacement;
  static constexpr DrafterInfo info{
      .name = "gumbel_top_k",
      .summary = "the first K arrivals of one exponential race on noise shared with the verifier",
      .marginal_sampling_of = "without_replacement"};

  /// Writes up to K distinct drafts to `out`; returns their number, less than K if q has fewer tokens.
  template <Distributions L, NoiseSource R>
  DRAFTPROOF_DEVICE int draw(const L& distributions, int drafts, R& random, Token* out) const {
    const auto arrivals = race<max_drafts>(
        distributions, 0, 1, drafts, [&distributions](Token x) { return distributions.proposal(x); }, random);
    for (int k = 0; k < arrivals.size(); ++k) out[k] = arrivals[k].token;
    return arrivals.size();
  }
};

// K i.i.d. drafts by shared noise as darts: draft k is the token of the first dart of stream k that falls below q
// (minhash_rejection.hpp).
//
// Cost: V darts for each draft on average.
// Source: weighted MinHash as a coupling: Daliri et al., arXiv:2408.07978.
struct Minhash {
  using Marginal = Iid;
  static constexpr DrafterInfo info{
      .name = "minhash",
      .summary = "K draws of one proposal by rejection from points (darts) shared with the verifier",
      .marginal_sampling_of = "iid"};

  /// Writes K drafts to `out`; returns K.
  template <Distributions L, NoiseSource R>
  DRAFTPROOF_DEVICE int draw(const L& distributions, int drafts, R& random, Token* out) const {
    for (int k = 0; k < drafts; ++k)
      out[k] = first_hit(
          distributions, k, [&distributions](Token x) { return distributions.proposal(x); }, random);
    return drafts;
  }
};

}  // namespace draftproof::drafters
