// Mutant: node-by-node recursive rejection without replacement of siblings sorted by p / q, greatest first.
//
// Source: tree builders that rank nodes.
// Error: the rule needs the draw order.
// Hidden: on chains.
#pragma once

#include <draftproof/mutants/paths/siblings_sorted_by_id.hpp>

namespace draftproof::mutants::paths {

struct HigherRatio {
  template <class L>
  bool operator()(const L& laws, Token a, Token b) const {
    const auto left = laws.target(a) * laws.proposal(b), right = laws.target(b) * laws.proposal(a);
    return left > right || (left == right && a < b);
  }
};

struct SiblingsSortedByRatio : NodeByNode<SortedRecursiveRejectionWor<HigherRatio>> {
  static constexpr Info info{.name = "siblings_sorted_by_ratio",
                             .summary = "recursive rejection without replacement of siblings sorted by p / q",
                             .source = "slip of tree builders; rule of arXiv:2402.12374",
                             .drafts = DraftLaws{"without_replacement_tree", "iid_paths"},
                             .derived_from = "recursive_rejection_wor_tree"};
};

}  // namespace draftproof::mutants::paths
