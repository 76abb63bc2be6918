// Mutant: node-by-node recursive rejection without replacement of siblings sorted by token id.
//
// Source: tree builders that rank nodes.
// Error: the rule needs the draw order.
// Hidden: on chains.
#pragma once

#include <draftproof/mutants/resorted_drafts.hpp>
#include <draftproof/sim/trees/node_by_node.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>

namespace draftproof::mutants::paths {

/// Recursive rejection without replacement that gets its drafts sorted.
template <class Before>
struct SortedRecursiveRejectionWor : Resorted<verifiers::RecursiveRejectionWor, Before> {
  static constexpr Info info = verifiers::RecursiveRejectionWor::info;
};

struct LowerId {
  template <class L>
  bool operator()(const L&, Token a, Token b) const {
    return a < b;
  }
};

struct SiblingsSortedById : NodeByNode<SortedRecursiveRejectionWor<LowerId>> {
  static constexpr Info info{.name = "siblings_sorted_by_id",
                             .summary = "recursive rejection without replacement of siblings sorted by token id",
                             .source = "slip of tree builders; rule of arXiv:2402.12374",
                             .drafts = DraftLaws{"without_replacement_tree", "iid_paths"},
                             .derived_from = "recursive_rejection_wor_tree"};
};

}  // namespace draftproof::mutants::paths
