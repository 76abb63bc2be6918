// Mutant: traversal verification that tests siblings by token id, not in draw order.
//
// Source: mutant of arXiv:2505.12398; trees built as maps or sorted lists lose the order.
// Error: the child of lowest id is not a draw of q.
// Hidden: on chains.
#pragma once

#include <algorithm>
#include <vector>

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/traversal/traversal_rule.hpp>

namespace draftproof::mutants::paths {

struct TraversalSorted {
  static constexpr Info info{.name = "traversal_sorted",
                             .summary = "traversal verification with siblings sorted by token id",
                             .source = "mutant of traversal verification, arXiv:2505.12398",
                             .drafts = DraftLaws{"without_replacement_tree", "iid_paths"},
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
