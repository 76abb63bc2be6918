// Mutant: i.i.d. drafts sorted by q before K-SEQ.
//
// Source: tree builders that rank nodes.
// Error: K-SEQ takes the first draft that passes, and the first of the sorted drafts does not have law q.
// Hidden: at K = 1.
#pragma once

#include <draftproof/mutants/resorted_drafts.hpp>
#include <draftproof/verifiers/k_seq.hpp>

namespace draftproof::mutants {

struct ResortedKSeq : Resorted<verifiers::KSeq> {
  static constexpr Info info{.name = "resorted_k_seq",
                             .summary = "K-SEQ of i.i.d. drafts sorted by q",
                             .source = "slip of tree builders; rule of arXiv:2310.15141",
                             .drafts = DraftLaws{"iid"},
                             .derived_from = "k_seq"};
};

}  // namespace draftproof::mutants
