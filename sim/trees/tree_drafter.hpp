// The concept of a tree drafter: a struct with a static TreeDrafterInfo named `info` and
//     void draw(const ConditionalModel<L>&, const TreeShape&, R& random, DraftTree& out) const
// which grows `out` from its root, whose context the caller has set. A drafter that reads shared noise also has a
// type `Marginal`: the tree drafter of the same distribution without noise.
#pragma once

#include <string_view>

#include <draftproof/sim/info.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/random_source.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof {

/// The row that the drafts after a node are drawn from, as their drafter declares it.
enum class DraftRow {
  context,     ///< the proposal after the node
  last_token,  ///< that after the node's last token alone, as a cache keyed by it keeps it; after the root its own
};

/// Declaration of a tree drafter.
struct TreeDrafterInfo {
  std::string_view name;     ///< name of the distribution of the tree
  std::string_view summary;  ///< one line
  /// The distributions of one position that the draws at every node have, repeats kept; empty: none. Verifiers of one
  /// of these distributions, lifted to trees, take these trees.
  DraftSamplings siblings{};
  /// The distributions that a node's children, distinct and in draw order, have for a sequential verifier
  /// (Info::sequential): the number of children may depend on the children.
  DraftSamplings siblings_sequential{};
  bool distinct_siblings = false;  ///< the draws at a node are its children: no repeats
  bool fixed = false;              ///< not random: the tree is a function of the context
  bool ranks_tokens = false;       ///< breaks ties between tokens by their ids
  bool independent_paths = false;  ///< K independent paths from the root, as captures store them
  bool has_stem = false;           ///< uses TreeShape::stem
  bool branches = false;           ///< uses TreeShape::branching
  /// Verifiers and checks of a drafter that declares another row than the context's get that row as its proposal.
  DraftRow row = DraftRow::context;
  /// For a drafter with a row of its own, or one that is wrong on purpose: the distribution of trees that it
  /// declares, given its row. Such drafters are found by name alone.
  std::string_view declared_as{};
  bool wrong = false;  ///< it does not draw what it declares
  /// For a drafter that reads shared noise: the name of the distribution of its trees over that noise, as in
  /// DrafterInfo.
  std::string_view marginal_sampling_of{};

  constexpr bool shared_noise() const { return !marginal_sampling_of.empty(); }
};

/// The context whose proposal the drafts after node u come from, for drafters of DraftRow::last_token.
template <class L>
int last_token_context(const ConditionalModel<L>& conditionals, const DraftTree& tree, int u) {
  return u == DraftTree::root ? tree.context(u) : conditionals.next(tree.context(DraftTree::root), tree.token(u));
}

/// Drafts `length` tokens below node u, one after the other. Returns the last node.
template <class L, class R>
int draw_path(const ConditionalModel<L>& conditionals, int u, int length, R& random, DraftTree& out) {
  for (int i = 0; i < length; ++i) {
    const int context = out.context(u);
    const Token x = random.pick(conditionals.distributions(context).row(0));
    u = out.draw(u, x, conditionals.next(context, x));
  }
  return u;
}

// K paths of L tokens through shared noise, each token by a drafter of one position in a stream of its own.
//
//   D            drafter of one position     its first draft is the token
//   d K + k      stream of path k after d tokens
//
// Correctness: streams are independent and each is read for one token, so the paths are K independent draws of the
// proposal.

template <class D, class L, NoiseSource R>
void draw_noise_paths(const D& drafter, const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random,
                      DraftTree& out) {
  for (int k = 0; k < shape.drafts; ++k)
    for (int u = DraftTree::root, depth = 0; depth < shape.length; ++depth) {
      const auto stream = static_cast<std::uint32_t>(depth * shape.drafts + k);
      NodeNoise noise(random, &stream);
      Token x = no_token;
      drafter.draw(conditionals.distributions(out.context(u)), 1, noise, &x);
      u = out.draw(u, x, conditionals.next(out.context(u), x), stream);
    }
}

}  // namespace draftproof
