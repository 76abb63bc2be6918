// Bounds on the expected number of accepted tokens of a drafted tree, with their proofs. A plan proves the lower
// bound; a price for every prefix proves the upper bound. The checker works in fractions and uses no solver, so a
// certificate is right if the checker is, whatever produced it.
//
//   w(T, n)    stops[t][j]     probability that tree T is drafted and the step stops at node n = trees[t].nodes[j]
//   a(x)                       sum of w over all nodes at x or below: the probability of accepting x
//   sum |n| w  lower           expected number of tokens that the plan accepts
//   pi(x)      prices[i]       price of accepting prefix x, at least 0; 0 for the empty prefix
//   g(n)                       one shot: |n| - sum of pi(x) over x <= n + sum of p(y|x) pi(xy) over x <= n and all y
//                              whole block: |n| - sum of pi(x) over x <= n
//   E max g    upper           mean of the largest g in the tree; whole block: plus the sum of p(x) pi(x)
//
// Cost: a check takes O(nodes of all trees) operations on fractions.
//
// Correctness: a plan for one shot is a verifier (certify.hpp). For the prices: a feasible plan has
// a(xy) <= p(y|x) a(x), so E g(N) >= E|N| for the node N at which it stops, whatever the prices.
//
// Source: derived in docs/optimum.md, "Trees".
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof {

// The distribution of the drafted tree as optima need it: the possible prefixes, the target's distribution after each
// prefix, and the probability of every set of prefixes. An enumeration of a drafter passes its trees to a
// TreeSamplingBuilder one by one.
//
//   x            prefixes[i]              a prefix; prefix 0 is empty, parents come before their children
//   p(.|x)       prefixes[i].target       distribution of the token after x
//   T            trees[t].nodes           set of prefixes in ascending order, closed under taking parents
//   Pr(T)        trees[t].probability     probability that the drafted tree is T; the sum over T is 1
//
// Cost: one look-up for each node. All numbers are fractions. Doubles are taken as exact fractions and divided by their
// sum, so that each distribution sums to 1.
//
// Correctness: trees with equal nodes are merged. Given the nodes, the order and multiplicity of the draws are
// independent of the target. Hence merging does not change the optimum: a rule that reads order and multiplicity can be
// replaced by a rule that draws both itself, given the nodes.

/// Converts a number of a prefix, tree or depth (int) to a container index.
inline std::size_t index(int i) { return static_cast<std::size_t>(i); }

struct TreeSampling {
  struct Prefix {
    int parent;  ///< -1 for the empty prefix
    Token token;
    int depth;
    std::vector<Rational> target;
  };
  struct Tree {
    std::vector<int> nodes;
    Rational probability;
  };

  std::vector<Prefix> prefixes;
  std::vector<Tree> trees;

  /// Returns p(y|x) for the last token y of prefix `i`; `i` is not the empty prefix.
  const Rational& step(std::size_t i) const {
    const Prefix& prefix = prefixes[i];
    return prefixes[static_cast<std::size_t>(prefix.parent)].target[static_cast<std::size_t>(prefix.token)];
  }
  /// Returns the total number of nodes of all trees, which is the size of a linear program.
  std::size_t nodes() const {
    std::size_t count = 0;
    for (const Tree& tree : trees) count += tree.nodes.size();
    return count;
  }
};

/// Returns, for every prefix i, the probability that the tree contains it.
std::vector<Rational> reach(const TreeSampling& distribution);

/// Divides the weights by their sum if it is not 1.
void normalise(std::vector<Rational>& weights);

/// A map from prefixes to their numbers.
class PrefixIndex {
 public:
  /// Returns the number of the prefix that extends `parent` by `x`, or -1.
  int find(int parent, Token x) const {
    const auto found = children_.find({parent, x});
    return found == children_.end() ? -1 : found->second;
  }
  /// Records `number` for the prefix that extends `parent` by `x`.
  void add(int parent, Token x, int number) { children_.emplace(std::pair(parent, x), number); }

  /// Returns the numbers of the nodes of `tree` in ascending order; empty if a node has no number.
  std::vector<int> nodes_of(const DraftTree& tree) const;

 private:
  std::map<std::pair<int, Token>, int> children_;
};

/// Collects the trees of an enumeration. It is callable, so it can be the enumeration's sink.
template <class L>
class TreeSamplingBuilder {
 public:
  explicit TreeSamplingBuilder(const ConditionalModel<L>& conditionals) : conditionals_{conditionals} {}

  /// Adds one tree with its probability; trees of probability 0 are ignored.
  template <class Weight>
  void operator()(const DraftTree& tree, const Weight& probability) {
    if (!(probability > Weight(0))) return;
    std::vector<int> numbers(static_cast<std::size_t>(tree.size()));
    for (int u = 0; u < tree.size(); ++u) numbers[static_cast<std::size_t>(u)] = number(tree, u, numbers);
    std::sort(numbers.begin(), numbers.end());
    trees_.try_emplace(std::move(numbers), 0).first->second += Rational(probability);
  }

  /// Returns the distribution of the collected trees, normalised.
  TreeSampling distribution() const {
    TreeSampling distribution{prefixes_, {}};
    std::vector<Rational> probabilities;
    for (const auto& [nodes, probability] : trees_) probabilities.push_back(probability);
    normalise(probabilities);
    std::size_t t = 0;
    for (const auto& [nodes, probability] : trees_) distribution.trees.push_back({nodes, probabilities[t++]});
    return distribution;
  }

 private:
  /// Returns the number of node u. `numbers` has the numbers of the earlier nodes, including the parent of u.
  int number(const DraftTree& tree, int u, const std::vector<int>& numbers) {
    const int parent = u == DraftTree::root ? -1 : numbers[static_cast<std::size_t>(tree.parent(u))];
    if (const int known = index_.find(parent, tree.token(u)); known >= 0) return known;
    const L& distributions = conditionals_.distributions(tree.context(u));
    std::vector<Rational> row;
    for (Token x = 0; x < distributions.vocabulary(); ++x) row.emplace_back(distributions.target(x));
    normalise(row);
    const int fresh = static_cast<int>(prefixes_.size());
    prefixes_.push_back({parent, tree.token(u), tree.depth(u), std::move(row)});
    index_.add(parent, tree.token(u), fresh);
    return fresh;
  }

  const ConditionalModel<L>& conditionals_;
  PrefixIndex index_;
  std::vector<TreeSampling::Prefix> prefixes_;
  std::map<std::vector<int>, Rational> trees_;
};

/// The information that the verifier has: the tree and the distributions (one_shot), or in addition the tokens that the
/// target would emit (whole_block). Each value limits a, the probability of accepting a prefix.
enum class Sight {
  one_shot,     ///< a(xy) <= p(y|x) a(x)
  whole_block,  ///< a(x) <= p(x): the full-information bound
};

/// lower <= optimum <= upper, in accepted tokens per step; `stops` proves the lower and `prices` the upper bound.
struct TreeCertificate {
  Rational lower, upper;
  std::vector<std::vector<Rational>> stops;
  std::vector<Rational> prices;
};

/// Returns the reason why the certificate does not prove lower <= optimum <= upper for this distribution, or an empty
/// string.
std::string reject(const TreeSampling& distribution, Sight sight, const TreeCertificate& certificate);

/// Returns the reason why `distribution` is not the distribution of a tree, or an empty string.
std::string reject(const TreeSampling& distribution);

}  // namespace draftproof
