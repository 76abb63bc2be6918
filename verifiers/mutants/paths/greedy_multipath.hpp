// Mutants: wrong greedy multi-path block verification. `Hidden` says where a bug does not show.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/greatest/greatest_path.hpp>

namespace draftproof::mutants::paths {

// Mutant: greedy multi-path block verification that breaks ties of p / q towards the higher id when it chooses a
// path, but towards the lower id when it computes the distribution of the choice.
//
// Source: reference code of arXiv:2602.16961, whose sort and whose maximum break ties in opposite ways.
// Error: the path is chosen by one tie rule, but verified with the distribution of the choice by the other tie rule.
// Hidden: on rows without ties. Visible at p = q, where all ratios are equal.

/// Returns the child of greatest p / q. At a tie keeps(x, best) returns whether `best`, the greatest so far, stays.
template <class L, class Keeps>
int greatest_child(const DraftedTree<L>& at, int u, Keeps keeps) {
  const L& distributions = at.distributions(u);
  int greatest = -1;
  Token best = no_token;
  for (const int child : at.tree().children(u)) {
    const Token x = at.tree().token(child);
    if (greatest >= 0) {
      const auto left = distributions.target(x) * distributions.proposal(best),
                 right = distributions.target(best) * distributions.proposal(x);
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
                             .drafts = DraftSamplings{"iid_paths"},
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

// Mutant: greedy multi-path block verification that breaks ties of p / q by draw order when it chooses a path, but by
// token id when it computes the distribution of the choice.
//
// Source: found by reading the reference code of arXiv:2602.16961.
// Error: the path is chosen by one tie rule, but verified with the distribution of the choice by the other tie rule.
// Hidden: on rows without ties. Visible at p = q, where all ratios are equal.
struct GbvTiesDiffer {
  static constexpr Info info{.name = "gbv_ties_differ",
                             .summary = "greedy multi-path block verification with two tie rules",
                             .source = "reading of the reference code of arXiv:2602.16961",
                             .drafts = DraftSamplings{"iid_paths"},
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

// Mutant: verifies the greatest of K paths as a block drawn from q.
//
// Source: mutant of arXiv:2602.16961.
// Error: the greatest of K paths is not a draw of q.
// Hidden: at K = 1.
struct GbvUnskewed {
  static constexpr Info info{.name = "gbv_unskewed",
                             .summary = "the greatest of K paths verified as a block of q",
                             .source = "mutant of greedy multi-path block verification, arXiv:2602.16961",
                             .drafts = DraftSamplings{"iid_paths"},
                             .derived_from = "greedy_multipath_block"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    const GreatestPath<L> greatest(at, DraftTree::root);
    PlainSteps<L> steps(at, DraftTree::root);
    for (int i = 1; i <= greatest.length(); ++i) steps.append(greatest.node(i));
    return verify_block(steps, random);
  }
};

}  // namespace draftproof::mutants::paths
