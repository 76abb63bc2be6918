// Weighted MinHash coupling: a dart is a uniform pair (token x, height in [0, 1)). The draft is the token of the first
// dart with height below q(x), and the emitted token is the token of the first dart with height below p(x).
//
//   darts  noise of one stream     (token, height), read by drafter and verifier; sim/sampling/minhash_rejection.hpp
//   x_1    first dart below q      computed by the drafter: drafters/shared_noise.hpp
//   Y      first dart below p      emitted; does not depend on q
//
// Cost: V darts on average.
// Acceptance: [sum min + sum (p-q)+ q + sum (q-p)+ p] / (1 + TV). Drafter and verifier take the same dart with
// probability (1 - TV) / (1 + TV), which no coupling without communication exceeds on every pair; the two tokens agree
// more often, because different darts of drafter and verifier can have the same token.
// Source: Daliri et al., arXiv:2408.07978.
// Correctness: the first dart below p falls on a token of distribution p.
#pragma once

#include <draftproof/sim/sampling/minhash_rejection.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::verifiers {

struct WeightedMinhash {
  static constexpr Info info{
      .name = "weighted_minhash",
      .summary = "rejection sampling from p with the drafter's points (darts); accepted if the token was drafted",
      .source = "Daliri et al., arXiv:2408.07978",
      .drafts = DraftSamplings{"minhash"},
      .most_drafts = 1,
      .claims = {.accepts_equal_distributions = true, .emitted_drafts_are_accepted = true, .drafter_invariant = true},
      .unsupported = {.explore = "its randomness is a sequence of darts that the drafter reads too"},
      .shared_noise = true};

  template <Position P, NoiseSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    return matched(at, {first_hit(
                            at.distributions(), 0, [&at](Token x) { return at.target(x); }, random),
                        none_accepted});
  }
};

}  // namespace draftproof::verifiers
