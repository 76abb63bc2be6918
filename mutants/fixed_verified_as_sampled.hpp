// Mutant: the K most probable tokens, verified as if they had been drawn without replacement.
//
// Source: dynamic trees with a sampling verifier.
// Error: the drafts are certain, not drawn with probability q.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>

namespace draftproof::mutants {

struct FixedVerifiedAsSampled {
  static constexpr Info info{.name = "fixed_verified_as_sampled",
                             .summary = "fixed top-K drafts tested as a draw without replacement",
                             .source = "mismatch of EAGLE-2 style trees and arXiv:2402.14160",
                             .drafts = DraftLaws{"fixed_top_k"},
                             .derived_from = "sample_and_match"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    return verifiers::RecursiveRejectionWor{}.verify(at, random);
  }
};

}  // namespace draftproof::mutants
