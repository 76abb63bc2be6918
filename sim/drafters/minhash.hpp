// K i.i.d. drafts through shared darts: draft k is the token of the first dart of stream k that hits q
// (minhash_rejection.hpp).
//
// Cost: V darts a draft on average.
// Source: weighted MinHash as a coupling: Daliri et al., arXiv:2408.07978.
#pragma once

#include <draftproof/sim/drafters/iid.hpp>
#include <draftproof/sim/sampling/minhash_rejection.hpp>

namespace draftproof::drafters {

struct Minhash {
  using Marginal = Iid;
  static constexpr DrafterInfo info{.name = "minhash",
                                    .summary = "K draws of one proposal, each the first hit of shared darts",
                                    .marginal_law_of = "iid"};

  /// Writes K drafts to `out`; returns K.
  template <Laws L, NoiseSource R>
  DRAFTPROOF_DEVICE int draw(const L& laws, int drafts, R& random, Token* out) const {
    for (int k = 0; k < drafts; ++k)
      out[k] = first_hit(
          laws, k, [&laws](Token x) { return laws.proposal(x); }, random);
    return drafts;
  }
};

}  // namespace draftproof::drafters
