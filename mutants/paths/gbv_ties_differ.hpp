// Mutant: greedy multi-path block verification that breaks ties of p / q by first come in the choice, by token id in
// the law of the choice.
//
// Source: reading of the reference code of arXiv:2602.16961.
// Error: the choice has another law than the one it is verified with.
// Hidden: without ties; at p = q all tokens are tied.
#pragma once

#include <draftproof/mutants/paths/gbv_ties_opposed.hpp>

namespace draftproof::mutants::paths {

struct GbvTiesDiffer {
  static constexpr Info info{.name = "gbv_ties_differ",
                             .summary = "greedy multi-path block verification with two tie rules",
                             .source = "reading of the reference code of arXiv:2602.16961",
                             .drafts = DraftLaws{"iid_paths"},
                             .derived_from = "greedy_multipath_block"};

  struct FirstCome {
    template <class L>
    int operator()(const DraftedTree<L>& at, const TokenOrder<L>&, int u) const {
      return greatest_child(at, u, [](Token, Token) { return true; });
    }
  };

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return verify_block(GreatestPath<L>(at, DraftTree::root, FirstCome{}), random);
  }
};

}  // namespace draftproof::mutants::paths
