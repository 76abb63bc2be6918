// Mutant: drafts of different proposals, verified as if all had been drawn from the first.
//
// Source: a verifier that keeps one row of q for all draft models; rule of arXiv:2305.09781.
// Error: later drafts are tested against a law they were not drawn from.
// Hidden: at K = 1 and with identical proposals.
#pragma once

#include <draftproof/mutants/crossed_proposals.hpp>

namespace draftproof::mutants {

struct FirstRow {
  DRAFTPROOF_DEVICE static int row(int, int) { return 0; }
};

struct IndependentVerifiedAsIid : Mispaired<FirstRow> {
  static constexpr Info info{.name = "independent_verified_as_iid",
                             .summary = "drafts of different proposals all tested against the first proposal",
                             .source = "one row of q kept for all draft models; rule of arXiv:2305.09781",
                             .drafts = DraftLaws{"independent"},
                             .derived_from = "recursive_rejection_independent"};
};

}  // namespace draftproof::mutants
