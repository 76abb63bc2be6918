// Mutant: drafts drawn without replacement, verified by recursive rejection as if each had been drawn from the whole
// q.
//
// Source: a slip of tree verifiers: q is not renormalised after a refusal. Setting the refused token to zero without
// renormalising has the same law.
// Error: a later draft has a higher probability than the q it is tested against.
// Hidden: if at most one token is left in the residual, so on most small instances.
#pragma once

#include <draftproof/verifiers/recursive_rejection.hpp>

namespace draftproof::mutants {

struct WorVerifiedAsIid {
  static constexpr Info info{.name = "wor_verified_as_iid",
                             .summary = "drafts without replacement tested against the whole q",
                             .source = "common slip; recursive rejection of arXiv:2305.09781 on the wrong draft law",
                             .drafts = DraftLaws{"without_replacement"},
                             .sequential = true,
                             .derived_from = "recursive_rejection_wor"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    return verifiers::RecursiveRejection{}.verify(at, random);
  }
};

}  // namespace draftproof::mutants
