// Mutant: greedy multi-path block verification that breaks ties of p / q towards the higher id in the choice, towards
// the lower id in the law of the choice.
//
// Source: reference code of arXiv:2602.16961, whose sort and whose maximum meet ties from different ends.
// Error: the choice has another law than the one it is verified with.
// Hidden: without ties; at p = q all tokens are tied.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/greatest/greatest_path.hpp>

namespace draftproof::mutants::paths {

/// The child of greatest p / q; keeps(x, best) says whether the best so far stays before an equal x.
template <class L, class Keeps>
int greatest_child(const DraftedTree<L>& at, int u, Keeps keeps) {
  const L& laws = at.laws(u);
  int greatest = -1;
  Token best = no_token;
  for (const int child : at.tree().children(u)) {
    const Token x = at.tree().token(child);
    if (greatest >= 0) {
      const auto left = laws.target(x) * laws.proposal(best), right = laws.target(best) * laws.proposal(x);
      if (left < right || (left == right && keeps(x, best))) continue;
    }
    greatest = child;
    best = x;
  }
  return greatest;
}

struct GbvTiesOpposed {
  static constexpr Info info{.name = "gbv_ties_opposed",
                             .summary = "greedy multi-path block verification, ties chosen from the other end",
                             .source = "reference code of arXiv:2602.16961",
                             .drafts = DraftLaws{"iid_paths"},
                             .derived_from = "greedy_multipath_block"};

  struct HigherId {
    template <class L>
    int operator()(const DraftedTree<L>& at, const TokenOrder<L>&, int u) const {
      return greatest_child(at, u, [](Token x, Token best) { return x < best; });
    }
  };

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return verify_block(GreatestPath<L>(at, DraftTree::root, HigherId{}), random);
  }
};

}  // namespace draftproof::mutants::paths
