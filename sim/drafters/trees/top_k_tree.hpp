// A fixed tree: the K most probable prefixes of at most L tokens under the proposal, shorter ones first among equals,
// then by token ids from the left. Siblings are ordered by probability. No node gets more than max_drafts children,
// the most that a verifier takes; the next best prefixes take their place. The number of nodes of a level is not
// limited.
//
// Source: the dynamic tree of Li et al. 2024 (EAGLE-2), arXiv:2406.16858, without its limit on the nodes of a level.
#pragma once

#include <algorithm>
#include <vector>

#include <draftproof/sim/trees/tree_drafter.hpp>

namespace draftproof::tree_drafters {

struct TopKTree {
  static constexpr TreeDrafterInfo info{.name = "top_k_tree",
                                        .summary = "the K most probable prefixes of at most L tokens, no randomness",
                                        .siblings = DraftLaws{"fixed_top_k"},
                                        .distinct_siblings = true,
                                        .fixed = true,
                                        .ranks_tokens = true};

  /// Adds K nodes to `out`, fewer if there are fewer prefixes.
  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R&, DraftTree& out) const {
    using Scalar = typename L::Scalar;
    struct Candidate {
      Scalar probability;
      int parent;
      Token token;
    };
    // Best first: no descendant is more probable than its prefix.
    std::vector<Candidate> open;
    const auto expand = [&](int u, const Scalar& reached) {
      if (out.depth(u) == shape.length) return;
      std::vector<Candidate> children;
      conditionals.laws(out.context(u)).row(0).for_each([&](Token x, const auto& q) {
        children.push_back({Scalar(reached * Scalar(q)), u, x});
      });
      // At most this many children of one node can be taken, the most probable first.
      const auto most = static_cast<std::size_t>(std::min(shape.drafts, max_drafts));
      if (children.size() > most) {
        std::nth_element(children.begin(), children.begin() + static_cast<std::ptrdiff_t>(most), children.end(),
                         [](const Candidate& a, const Candidate& b) {
                           return a.probability > b.probability ||
                                  (a.probability == b.probability && a.token < b.token);
                         });
        children.resize(most);
      }
      open.insert(open.end(), children.begin(), children.end());
    };
    expand(DraftTree::root, Scalar(1));
    while (out.size() - 1 < shape.drafts && !open.empty()) {
      const auto best = std::min_element(open.begin(), open.end(), [&](const Candidate& a, const Candidate& b) {
        if (a.probability != b.probability) return a.probability > b.probability;
        if (out.depth(a.parent) != out.depth(b.parent)) return out.depth(a.parent) < out.depth(b.parent);
        return before(out, a.parent, a.token, b.parent, b.token);
      });
      const Candidate taken = *best;
      *best = open.back();
      open.pop_back();
      expand(out.draw(taken.parent, taken.token, conditionals.next(out.context(taken.parent), taken.token)),
             taken.probability);
    }
  }

 private:
  /// Whether the prefix (a, x) comes before (b, y) of the same length, by token ids from the left.
  static bool before(const DraftTree& tree, int a, Token x, int b, Token y) {
    if (a == b) return x < y;
    return before(tree, tree.parent(a), tree.token(a), tree.parent(b), tree.token(b));
  }
};

}  // namespace draftproof::tree_drafters
