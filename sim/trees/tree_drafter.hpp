// What makes a type a tree drafter: a struct with a static TreeDrafterInfo named `info` and
//     void draw(const ConditionalModel<L>&, const TreeShape&, R& random, DraftTree& out) const
// which grows `out` from its root, whose context it finds there; and, if it reads shared noise, a type `Law`, the
// tree drafter that draws the same law without.
#pragma once

#include <string_view>

#include <draftproof/sim/info.hpp>
#include <draftproof/sim/random/node_noise_source.hpp>
#include <draftproof/sim/random_source.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof {

struct TreeDrafterInfo {
  std::string_view name;     ///< name of the law of the tree
  std::string_view summary;  ///< one line
  /// The laws of one position that the draws at every node have, repeats kept; empty: none. Walks of the verifiers
  /// written for one of them take these trees.
  DraftLaws siblings{};
  /// The laws that a node's children, distinct and in draw order, have for whoever decides on them in turn
  /// (Info::sequential): how many follow may depend on which they are.
  DraftLaws siblings_in_turn{};
  bool distinct_siblings = false;  ///< the draws at a node are its children: no repeats
  bool fixed = false;              ///< no randomness: the tree is a function of the context
  bool ranks_tokens = false;       ///< breaks ties between tokens by their ids
  bool independent_paths = false;  ///< K independent paths from the root: what captures store
  bool has_stem = false;           ///< heeds TreeShape::stem
  bool branches = false;           ///< heeds TreeShape::branching
  /// For a drafter that reads shared noise: the law its trees have for whoever does not, as DrafterInfo's.
  std::string_view marginal_law_of{};

  constexpr bool shared_noise() const { return !marginal_law_of.empty(); }
};

/// `length` tokens below node u, one after the other. Returns the last node.
template <class L, class R>
int draw_path(const ConditionalModel<L>& conditionals, int u, int length, R& random, DraftTree& out) {
  for (int i = 0; i < length; ++i) {
    const int context = out.context(u);
    const Token x = random.pick(conditionals.laws(context).row(0));
    u = out.draw(u, x, conditionals.next(context, x));
  }
  return u;
}

// K paths of L tokens through shared noise, every token by a drafter of one position in a stream of its own.
//
//   D            drafter of one position     its first draft is the token
//   d K + k      stream of path k after d tokens
//
// Streams are independent and each is read for one token, so the paths are K independent draws of the proposal.

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
