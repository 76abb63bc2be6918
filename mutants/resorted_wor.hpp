// Mutant: drafts without replacement sorted by q before recursive rejection without replacement.
//
// Source: tree builders that rank nodes.
// Error: the rule needs the draw order.
// Hidden: at K = 1.
#pragma once

#include <draftproof/mutants/resorted_drafts.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>

namespace draftproof::mutants {

struct ResortedWor : Resorted<verifiers::RecursiveRejectionWor> {
  static constexpr Info info{.name = "resorted_wor",
                             .summary = "recursive rejection of drafts without replacement sorted by q",
                             .source = "slip of tree builders; rule of arXiv:2402.14160",
                             .drafts = DraftLaws{"without_replacement"},
                             .derived_from = "recursive_rejection_wor"};
};

}  // namespace draftproof::mutants
