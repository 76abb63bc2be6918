// The distributions of the two models as an iteration goes on. A context is a prefix, and each token leads from one
// context to another. SmallModel tables, captured trees and live models are all conditional models; verifiers of
// paths read a drafted tree and the distributions at its nodes only.
//
//   p(.|u), q(.|u)   at.distributions(u)              target and proposal after node u: a model of Distributions
//                                                     (position.hpp)
//                    conditionals.distributions(c)    the same after context c
//                    conditionals.next(c, x) context after token x
//   step             {node, extra}           the tokens on the way to `node`, then one more: correction or bonus
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <draftproof/sim/device/bounded_list.hpp>
#include <draftproof/sim/position.hpp>
#include <draftproof/sim/trees/draft_tree.hpp>

namespace draftproof {

/// Contexts are numbered from 0; `no_context` is a context without distributions. References to distributions stay
/// valid.
template <class L>
class ConditionalModel {
 public:
  using Distributions = L;
  static constexpr int no_context = -1;

  virtual ~ConditionalModel() = default;
  /// Target and proposal after `context`.
  virtual const L& distributions(int context) const = 0;
  /// The context after token x, or no_context.
  virtual int next(int context, Token x) const = 0;
  /// Contexts with numbers below this are discarded, as live models do; plans for them can be dropped. A number is
  /// never used again.
  virtual int forgotten() const { return 0; }
};

/// The output of one step: the drafted tokens down to `node`, then the token of `extra`. An explorer spreads the
/// extra token over the vocabulary; the `accepted` of `extra` has no meaning here.
struct StepOutput {
  int node = DraftTree::root;
  Verdict extra{};
};

/// A residual that an earlier step leaves to later positions (greedy block verification only): the next `remaining`
/// positions have a residual of it as target.
template <class Scalar>
struct PendingResidual {
  int remaining;
  Scalar ratio;  ///< of the target's to the proposal's probability of the block so far

  bool operator==(const PendingResidual&) const = default;
};

/// State that a verifier carries into the next step, oldest layer first; empty for almost all schemes.
template <class Scalar>
using VerifierState = std::vector<PendingResidual<Scalar>>;

/// Tokens of the longest path that verifiers take; bounds the arrays on their stacks.
inline constexpr int max_path_length = 64;

/// The carried state of verifiers on L. Every step takes at least one position off each layer and adds one layer, so
/// there are never more layers than a path has tokens.
template <class L>
using StateAt = ListAt<L, PendingResidual<typename L::Scalar>, max_path_length>;

/// A drafted tree with the distributions at its nodes. Refers to both, owns neither.
template <class L>
class DraftedTree {
 public:
  using Distributions = L;
  using Scalar = typename L::Scalar;

  DraftedTree(const ConditionalModel<L>& conditionals, const DraftTree& tree)
      : conditionals_{conditionals}, tree_{tree} {}

  const DraftTree& tree() const { return tree_; }
  /// Target and proposal after node u.
  const L& distributions(int u) const { return conditionals_.distributions(tree_.context(u)); }
  const ConditionalModel<L>& conditionals() const { return conditionals_; }

  /// The last node of the first path, for trees that are one path.
  int last() const {
    int u = DraftTree::root;
    while (!tree_.leaf(u)) u = *tree_.children(u).begin();
    return u;
  }

 private:
  const ConditionalModel<L>& conditionals_;
  const DraftTree& tree_;
};

// A conditional model by tables: distributions at every prefix up to some length. Longer prefixes have the
// distributions of their last tabulated one. For small models, where everything can be enumerated.

template <class L>
class PrefixTable final : public ConditionalModel<L> {
 public:
  /// `distributions` in breadth-first order: the empty prefix, (0), (1), .., (0, 0), (0, 1), ..; as many levels as
  /// are full.
  explicit PrefixTable(std::vector<L> distributions)
      : distributions_{std::move(distributions)}, vocabulary_{distributions_.front().vocabulary()} {}

  const L& distributions(int context) const override { return distributions_[static_cast<std::size_t>(context)]; }
  int next(int context, Token x) const override {
    const int child = context * vocabulary_ + 1 + x;
    return child < static_cast<int>(distributions_.size()) ? child : context;
  }
  int vocabulary() const { return vocabulary_; }
  int size() const { return static_cast<int>(distributions_.size()); }

 private:
  std::vector<L> distributions_;
  int vocabulary_;
};

}  // namespace draftproof
