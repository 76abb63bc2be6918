// K paths of L tokens through shared noise, every token by a drafter of one position in a stream of its own.
//
//   D            drafter of one position     its first draft is the token
//   d K + k      stream of path k after d tokens
//
// Streams are independent and each is read for one token, so the paths are K independent draws of the proposal.
#pragma once

#include <draftproof/sim/random/node_noise_source.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof {

template <class D, class L, NoiseSource R>
void draw_noise_paths(const D& drafter, const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random,
                      DraftTree& out) {
  for (int k = 0; k < shape.drafts; ++k)
    for (int u = DraftTree::root, depth = 0; depth < shape.length; ++depth) {
      const auto stream = static_cast<std::uint32_t>(depth * shape.drafts + k);
      NodeNoise noise(random, &stream);
      Token x = no_token;
      drafter.draw(conditionals.laws(out.context(u)), 1, noise, &x);
      u = out.draw(u, x, conditionals.next(out.context(u), x), stream);
    }
}

}  // namespace draftproof
