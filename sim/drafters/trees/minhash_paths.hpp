// K independent paths through shared noise: every token is the first of its darts below q.
//
// Cost: V darts a token on average.
// Correctness: the law is that of iid_paths, because streams are independent and each is read for one token
// (tree_drafter.hpp).
// Source: weighted MinHash as a coupling: Daliri et al., arXiv:2408.07978; on paths derived here.
#pragma once

#include <draftproof/sim/drafters/minhash.hpp>
#include <draftproof/sim/drafters/trees/iid_paths.hpp>
#include <draftproof/sim/trees/tree_drafter.hpp>

namespace draftproof::tree_drafters {

struct MinhashPaths {
  using Marginal = IidPaths;
  static constexpr TreeDrafterInfo info{.name = "minhash_paths",
                                        .summary = "K paths, every token the first hit of shared darts",
                                        .siblings = DraftLaws{"minhash"},
                                        .marginal_law_of = "iid_paths"};

  /// Adds K paths of L tokens to `out`, with the stream of every draw.
  template <class L, NoiseSource R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    draw_noise_paths(drafters::Minhash{}, conditionals, shape, random, out);
  }
};

}  // namespace draftproof::tree_drafters
