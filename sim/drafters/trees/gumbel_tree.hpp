// A tree whose nodes draw their children without replacement through shared noise: the first arrivals of one race of
// q a node, in the order of arrival, level by level.
//
//   u    stream of node u    its number in the tree
//
// Cost: one pass over the vocabulary a node.
// Correctness: the law is that of without_replacement_tree. The number of a node depends on the earlier drafts, but
// the stream of that number has not been read before.
// Source: the first arrivals of one race as drafts: reconstruction of arXiv:2609.21858, not checked against the
// paper; on trees: derived here.
#pragma once

#include <algorithm>

#include <draftproof/sim/drafters/gumbel_top_k.hpp>
#include <draftproof/sim/drafters/trees/without_replacement_tree.hpp>
#include <draftproof/sim/random/node_noise_source.hpp>

namespace draftproof::tree_drafters {

struct GumbelTree {
  using Marginal = WithoutReplacementTree;
  static constexpr TreeDrafterInfo info{
      .name = "gumbel_tree",
      .summary = "children of every node: the first arrivals of a race of shared noise",
      .siblings = DraftLaws{"gumbel_top_k"},
      .distinct_siblings = true,
      .branches = true,
      .marginal_law_of = "without_replacement_tree"};

  /// Adds the children of every node above depth L to `out`, with the stream of their draws.
  template <class L, NoiseSource R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    for (int u = 0; u < out.size(); ++u) {  // nodes are appended level by level
      if (out.depth(u) == shape.length) break;
      const int context = out.context(u), wanted = std::min(shape.children_at(out.depth(u)), max_drafts);
      const auto stream = static_cast<std::uint32_t>(u);
      NodeNoise noise(random, &stream);
      Token drafts[max_drafts];
      const int drawn = drafters::GumbelTopK{}.draw(conditionals.laws(context), wanted, noise, drafts);
      for (int k = 0; k < drawn; ++k) out.draw(u, drafts[k], conditionals.next(context, drafts[k]), stream);
    }
  }
};

}  // namespace draftproof::tree_drafters
