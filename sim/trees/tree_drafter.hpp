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

/// The row from which the drafts after a node are drawn, as declared by the drafter.
enum class DraftRow {
  context,     ///< the proposal after the node
  last_token,  ///< the proposal after the node's last token alone, as in a cache keyed by the last token
};

/// Declaration of a tree drafter.
struct TreeDrafterInfo {
  std::string_view name;     ///< name of the distribution of the tree
  std::string_view summary;  ///< description in one line
  /// The draft samplings whose distribution the draws at every node have, repeats included; empty if none is declared.
  /// The tree forms of verifiers for one of these samplings take these trees.
  DraftSamplings siblings{};
  /// The draft samplings whose distribution a node's distinct children have, in draw order, if their number may depend
  /// on the children. Sequential verifiers (Info::sequential) allow this.
  DraftSamplings siblings_sequential{};
  bool distinct_siblings = false;   ///< whether the draws at a node have no repeats
  bool fixed = false;               ///< whether the tree is a function of the context, without randomness
  bool ranks_tokens = false;        ///< whether ties between tokens are broken by their ids
  bool independent_paths = false;   ///< whether the tree is K independent paths from the root, as captures store them
  bool has_stem = false;            ///< whether TreeShape::stem is read
  bool branches = false;            ///< whether TreeShape::branching is read
  bool has_fixed_children = false;  ///< whether TreeShape::fixed is read
  bool prunes = false;              ///< whether TreeShape::nodes is read
  bool shared_suffix = false;  ///< whether the path drawn below the first root child is repeated below the others
  /// The row that verifiers and checks get as the proposal at a node.
  DraftRow row = DraftRow::context;
  /// For a drafter whose `row` is not DraftRow::context, or that is wrong on purpose: the distribution of trees that it
  /// declares, given its row. Such drafters are selected by name only.
  std::string_view declared_as{};
  bool wrong = false;  ///< whether the trees do not have the declared distribution
  /// For a drafter that reads shared noise: the name of the distribution that its trees have if the noise is random,
  /// as in DrafterInfo.
  std::string_view marginal_sampling_of{};

  constexpr bool shared_noise() const { return !marginal_sampling_of.empty(); }
};

/// Returns the context from whose proposal the drafts after node u are drawn if `row` is DraftRow::last_token.
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

// Draws K paths of L tokens by shared noise, each token by a drafter of one position from a separate stream.
//
//   D            drafter of one position     its first draft is the token
//   d K + k      stream of path k at depth d
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
