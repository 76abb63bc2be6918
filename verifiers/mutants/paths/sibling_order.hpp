// Mutants: siblings tested in an order that depends on their tokens. `Hidden` says where a bug does not show.
#pragma once

#include <algorithm>
#include <vector>

#include <draftproof/sim/info.hpp>
#include <draftproof/sim/trees/node_by_node.hpp>
#include <draftproof/verifiers/mutants/draft_order.hpp>
#include <draftproof/verifiers/paths/traversal/traversal_rule.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>

namespace draftproof::mutants::paths {

// Mutant: node-by-node recursive rejection without replacement of siblings sorted by token id.
//
// Source: tree builders that sort nodes.
// Error: the rule needs the draw order.
// Hidden: on chains.

namespace detail {

/// Recursive rejection without replacement that receives its drafts in sorted order.
template <class Before>
struct SortedRecursiveRejectionWor : mutants::detail::Resorted<verifiers::RecursiveRejectionWor, Before> {
  static constexpr Info info = verifiers::RecursiveRejectionWor::info;
};

struct LowerId {
  template <class L>
  bool operator()(const L&, Token a, Token b) const {
    return a < b;
  }
};

}  // namespace detail

struct SiblingsSortedById : NodeByNode<detail::SortedRecursiveRejectionWor<detail::LowerId>> {
  static constexpr Info info{.name = "siblings_sorted_by_id",
                             .summary = "recursive rejection without replacement of siblings sorted by token id",
                             .source = "bug of tree builders; rule of arXiv:2402.12374",
                             .drafts = DraftSamplings{"without_replacement_tree", "iid_paths"},
                             .derived_from = "recursive_rejection_wor_tree"};
};

// Mutant: node-by-node recursive rejection without replacement of siblings sorted by p / q, greatest first.
//
// Source: tree builders that sort nodes.
// Error: the rule needs the draw order.
// Hidden: on chains.

namespace detail {

struct HigherRatio {
  template <class L>
  bool operator()(const L& distributions, Token a, Token b) const {
    const auto left = distributions.target(a) * distributions.proposal(b),
               right = distributions.target(b) * distributions.proposal(a);
    return left > right || (left == right && a < b);
  }
};

}  // namespace detail

struct SiblingsSortedByRatio : NodeByNode<detail::SortedRecursiveRejectionWor<detail::HigherRatio>> {
  static constexpr Info info{.name = "siblings_sorted_by_ratio",
                             .summary = "recursive rejection without replacement of siblings sorted by p / q",
                             .source = "bug of tree builders; rule of arXiv:2402.12374",
                             .drafts = DraftSamplings{"without_replacement_tree", "iid_paths"},
                             .derived_from = "recursive_rejection_wor_tree"};
};

// Mutant: traversal verification that tests siblings by token id, not in draw order.
//
// Source: mutant of arXiv:2505.12398; trees built as maps or sorted lists lose the order.
// Error: the child of lowest id does not have distribution q.
// Hidden: on chains.
struct TraversalSorted {
  static constexpr Info info{.name = "traversal_sorted",
                             .summary = "traversal verification with siblings sorted by token id",
                             .source = "mutant of traversal verification, arXiv:2505.12398",
                             .drafts = DraftSamplings{"without_replacement_tree", "iid_paths"},
                             .derived_from = "traversal"};

  struct ById {
    template <class L>
    std::vector<int> operator()(const DraftedTree<L>& at, int u) const {
      std::vector<int> children;
      for (const int child : at.tree().children(u)) children.push_back(child);
      std::sort(children.begin(), children.end(),
                [&](int a, int b) { return at.tree().token(a) < at.tree().token(b); });
      return children;
    }
  };

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return TraversalRun<L, R, ById>(at, random, ById{}).run();
  }
};

}  // namespace draftproof::mutants::paths
