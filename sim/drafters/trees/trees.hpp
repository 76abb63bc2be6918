// Drafters of trees.
#pragma once

#include <algorithm>
#include <vector>

#include <draftproof/sim/drafters/shared_noise.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/trees/fixed_tokens.hpp>
#include <draftproof/sim/trees/tree_drafter.hpp>

namespace draftproof::tree_drafters {

namespace detail {

/// Draws children of node u without replacement, after its `count` children in `seen`, until u has `wanted` children
/// or q has no other token.
template <class L, class R>
void draw_distinct(const ConditionalModel<L>& conditionals, int u, int wanted, Token* seen, int count, R& random,
                   DraftTree& out) {
  const int context = out.context(u);
  const L& distributions = conditionals.distributions(context);
  for (; count < wanted && distributions.mass_without(0, seen, count) > distributions.zero(); ++count) {
    seen[count] = random.pick(distributions.row_without(0, seen, count));
    out.draw(u, seen[count], conditionals.next(context, seen[count]));
  }
}

}  // namespace detail

// A tree in which the children of a node are drawn without replacement and stay in draw order, level by level. A node
// has fewer children if q has fewer tokens.
//
// Source: Chen et al. 2024 (Sequoia), arXiv:2402.12374; Li et al. 2024 (EAGLE), arXiv:2401.15077.
struct WithoutReplacementTree {
  static constexpr TreeDrafterInfo info{.name = "without_replacement_tree",
                                        .summary = "children of every node drawn without replacement",
                                        .siblings = DraftSamplings{"without_replacement"},
                                        .distinct_siblings = true,
                                        .branches = true};

  /// Adds the children of every node above depth L to `out`.
  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    for (int u = 0; u < out.size(); ++u) {  // nodes are appended level by level
      if (out.depth(u) == shape.length) break;
      Token seen[max_drafts];
      detail::draw_distinct(conditionals, u, std::min(shape.children_at(out.depth(u)), max_drafts), seen, 0, random,
                            out);
    }
  }
};

// A tree in which the children of a node are drawn without replacement by shared noise: the first arrivals of one
// race of q for each node, in the order of arrival, level by level. Node number u reads stream u.
//
// Cost: one pass over the vocabulary for each node.
// Correctness: the tree has the distribution of without_replacement_tree. A node's number depends on the earlier
// drafts, but no earlier node has read the stream of that number.
// Source: first arrivals of a race as drafts: reconstruction of arXiv:2609.21858, not checked against the paper; the
// use on trees is derived here.

struct GumbelTree {
  using Marginal = WithoutReplacementTree;
  static constexpr TreeDrafterInfo info{
      .name = "gumbel_tree",
      .summary =
          "children of every node: the first arrivals of an exponential race on noise shared with the verifier",
      .siblings = DraftSamplings{"gumbel_top_k"},
      .distinct_siblings = true,
      .branches = true,
      .marginal_sampling_of = "without_replacement_tree"};

  /// Adds the children of every node above depth L to `out`, with the stream of their draws.
  template <class L, NoiseSource R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    for (int u = 0; u < out.size(); ++u) {  // nodes are appended level by level
      if (out.depth(u) == shape.length) break;
      const int context = out.context(u), wanted = std::min(shape.children_at(out.depth(u)), max_drafts);
      const auto stream = static_cast<std::uint32_t>(u);
      NodeNoise noise(random, &stream);
      Token drafts[max_drafts];
      const int drawn = drafters::GumbelTopK{}.draw(conditionals.distributions(context), wanted, noise, drafts);
      for (int k = 0; k < drawn; ++k) out.draw(u, drafts[k], conditionals.next(context, drafts[k]), stream);
    }
  }
};

// A hybrid tree: the children of a node are the F most probable tokens of q, then drafts drawn without replacement
// from the rest of q, level by level. The shape gives the number of all children of a node, and F. A node has fewer
// fixed children if q has fewer than F tokens, and fewer drawn children if the rest of q has fewer tokens.
//
// Source: trees that engines draft; named hybrid by arXiv:2605.04543.
struct HybridTree {
  static constexpr TreeDrafterInfo info{
      .name = "hybrid_tree",
      .summary = "children of every node: the most probable tokens, then draws without replacement from the rest",
      .distinct_siblings = true,
      .ranks_tokens = true,
      .branches = true,
      .has_fixed_children = true};

  /// Adds the children of every node above depth L to `out`, the fixed children first.
  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    for (int u = 0; u < out.size(); ++u) {  // nodes are appended level by level
      if (out.depth(u) == shape.length) break;
      const int context = out.context(u), wanted = std::min(shape.children_at(out.depth(u)), max_drafts);
      FixedTokens seen(conditionals.distributions(context), std::min(shape.fixed, wanted));
      for (int k = 0; k < seen.count; ++k) out.draw(u, seen.tokens[k], conditionals.next(context, seen.tokens[k]));
      detail::draw_distinct(conditionals, u, wanted, seen.tokens, seen.count, random, out);
    }
  }
};

// A fixed tree: the K most probable prefixes of at most L tokens under the proposal. Equally probable prefixes are
// ordered by length, the shortest first, then by token ids from the left, the lowest first. Siblings are ordered by
// probability. A node has at most max_drafts children, the largest number that a verifier takes; further children are
// replaced by the next most probable prefixes. The number of nodes at a level is not limited.
//
// Source: the dynamic tree of Li et al. 2024 (EAGLE-2), arXiv:2406.16858, without its limit on the nodes of a level.
struct TopKTree {
  static constexpr TreeDrafterInfo info{.name = "top_k_tree",
                                        .summary = "the K most probable prefixes of at most L tokens, no randomness",
                                        .siblings = DraftSamplings{"fixed_top_k"},
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
    // The most probable candidate is expanded first, because no descendant is more probable than its prefix.
    std::vector<Candidate> open;
    const auto expand = [&](int u, const Scalar& reached) {
      if (out.depth(u) == shape.length) return;
      std::vector<Candidate> children;
      conditionals.distributions(out.context(u)).row(0).for_each([&](Token x, const auto& q) {
        children.push_back({Scalar(reached * Scalar(q)), u, x});
      });
      // The tree has at most this many children of one node: the most probable children.
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
