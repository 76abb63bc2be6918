// K independent paths through shared noise: every token wins a race of q in a stream of its own.
//
// Cost: K L passes over the vocabulary.
// Correctness: the law is that of iid_paths, because streams are independent and each is read for one token
// (tree_drafter.hpp). The draws at a node are races of q for every history of their paths.
// Source: Rowan, Phan and Khisti, arXiv:2506.05632; one path: Daliri et al., arXiv:2408.07978.
#pragma once

#include <draftproof/sim/drafters/gumbel_iid.hpp>
#include <draftproof/sim/drafters/trees/iid_paths.hpp>
#include <draftproof/sim/trees/tree_drafter.hpp>

namespace draftproof::tree_drafters {

struct GumbelPaths {
  using Marginal = IidPaths;
  static constexpr TreeDrafterInfo info{.name = "gumbel_paths",
                                        .summary = "K paths, every token the winner of a race of shared noise",
                                        .siblings = DraftLaws{"gumbel_iid"},
                                        .marginal_law_of = "iid_paths"};

  /// Adds K paths of L tokens to `out`, with the stream of every draw.
  template <class L, NoiseSource R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    draw_noise_paths(drafters::GumbelIid{}, conditionals, shape, random, out);
  }
};

}  // namespace draftproof::tree_drafters
