// The distributions of the target and draft models at every prefix. A prefix is called a context; each token leads
// from one context to another. SmallModel tables, captured trees and live models are all conditional models;
// verifiers of paths read only a drafted tree and the distributions at its nodes.
//
//   p(.|u), q(.|u)   at.distributions(u)              target and proposal after node u, as Distributions
//                                                     (position.hpp)
//                    conditionals.distributions(c)    target and proposal after context c
//                    conditionals.next(c, x)          context after token x in context c
//   step             {node, extra}                    the tokens from the root to `node`, then a correction or bonus
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <draftproof/sim/device/bounded_list.hpp>
#include <draftproof/sim/position.hpp>
#include <draftproof/sim/trees/draft_tree.hpp>

namespace draftproof {

/// Contexts are numbered from 0; `no_context` stands for a context without distributions. References to distributions
/// stay valid.
template <class L>
class ConditionalModel {
 public:
  using Distributions = L;
  static constexpr int no_context = -1;

  virtual ~ConditionalModel() = default;
  /// Returns target and proposal after `context`.
  virtual const L& distributions(int context) const = 0;
  /// Returns the context after token x, or no_context.
  virtual int next(int context, Token x) const = 0;
  /// Returns the number of the first context that is not discarded. Plans for lower contexts can be deleted, because
  /// numbers are never used again. Only live models discard contexts.
  virtual int forgotten() const { return 0; }
};

/// The output of one step: the drafted tokens from the root to `node`, then the token of `extra`. An explorer, which
/// enumerates decisions, lists every possible extra token. `extra.accepted` has no meaning.
struct StepOutput {
  int node = DraftTree::root;
  Verdict extra{};
};

/// The residual that an earlier step of greedy block verification leaves: it takes the place of the target at the next
/// `remaining` positions.
template <class Scalar>
struct PendingResidual {
  int remaining;
  Scalar ratio;  ///< target probability of the block so far, divided by its proposal probability

  bool operator==(const PendingResidual&) const = default;
};

/// State that a verifier carries into the next step, oldest residual first; empty for most schemes.
template <class Scalar>
using VerifierState = std::vector<PendingResidual<Scalar>>;

/// Largest number of tokens on a path that verifiers take; it bounds the arrays on their stacks.
inline constexpr int max_path_length = 64;

/// The carried state of verifiers on `L`, which gives the number type and the memory of lists. A step adds one residual
/// and emits at least one token, which shortens every residual by one position, so there are never more residuals than
/// tokens on a path.
template <class L>
using StateAt = ListAt<L, PendingResidual<typename L::Scalar>, max_path_length>;

/// A drafted tree with the distributions at its nodes. It refers to the tree and to the model that gives the
/// distributions, and owns neither of them.
template <class L>
class DraftedTree {
 public:
  using Distributions = L;
  using Scalar = typename L::Scalar;

  DraftedTree(const ConditionalModel<L>& conditionals, const DraftTree& tree)
      : conditionals_{conditionals}, tree_{tree} {}

  const DraftTree& tree() const { return tree_; }
  /// Returns target and proposal after node u.
  const L& distributions(int u) const { return conditionals_.distributions(tree_.context(u)); }
  const ConditionalModel<L>& conditionals() const { return conditionals_; }

 private:
  const ConditionalModel<L>& conditionals_;
  const DraftTree& tree_;
};

// A conditional model that stores the distributions at every prefix up to some length. A longer prefix has the
// distributions of its longest stored prefix. It is for small models, which can be enumerated.

template <class L>
class PrefixTable final : public ConditionalModel<L> {
 public:
  /// `distributions` are in breadth-first order: the empty prefix, (0), (1), .., (0, 0), (0, 1), ..; all levels are
  /// full.
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
