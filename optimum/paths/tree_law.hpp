// The law of the drafted tree as optima see it: which prefixes it may hold, what the target says after each, and how
// probable every set of prefixes is. Whoever can enumerate a drafter hands its trees over one by one.
//
//   x            prefixes[i]              a prefix; 0 is the empty one, parents come before their children
//   p(.|x)       prefixes[i].target       law of the token after x
//   T            trees[t].nodes           set of prefixes in ascending order, closed under taking parents
//   Pr(T)        trees[t].probability     its chance; the sum is 1
//
// Trees with equal nodes are one: in what order they were drawn, and how often a node was, is independent of the
// target given the nodes, so a rule that looks at it can be replaced by one that draws it anew.
// Cost: one look-up a node. All numbers are fractions; doubles are taken as the fractions they are, and divided by
// their sum, so that a law is a law.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <draftproof/exact/rational.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof {

/// Prefixes, trees and depths are numbered in int, containers are not.
inline std::size_t index(int i) { return static_cast<std::size_t>(i); }

struct TreeLaw {
  struct Prefix {
    int parent;  ///< -1 of the empty prefix
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

  /// p(y|x) of the last token y of prefix `i`, which is not the empty one.
  const Rational& step(std::size_t i) const {
    const Prefix& prefix = prefixes[i];
    return prefixes[static_cast<std::size_t>(prefix.parent)].target[static_cast<std::size_t>(prefix.token)];
  }
  /// Nodes of all trees together: the size of a linear program.
  std::size_t nodes() const {
    std::size_t count = 0;
    for (const Tree& tree : trees) count += tree.nodes.size();
    return count;
  }
};

/// Chance that the tree holds prefix i, for every i.
std::vector<Rational> reach(const TreeLaw& law);

/// Divides by the sum where that is not 1.
void normalise(std::vector<Rational>& weights);

/// Numbers prefixes as trees come in.
class PrefixIndex {
 public:
  /// The number of the prefix one token beyond `parent`, or -1.
  int find(int parent, Token x) const {
    const auto found = children_.find({parent, x});
    return found == children_.end() ? -1 : found->second;
  }
  void add(int parent, Token x, int number) { children_.emplace(std::pair(parent, x), number); }

  /// Numbers of the nodes of `tree` in ascending order; empty if one of them is unknown.
  std::vector<int> nodes_of(const DraftTree& tree) const;

 private:
  std::map<std::pair<int, Token>, int> children_;
};

/// Collects the trees of an enumeration. A callable, so it can be the sink of one.
template <class L>
class TreeLawBuilder {
 public:
  explicit TreeLawBuilder(const ConditionalModel<L>& conditionals) : conditionals_{conditionals} {}

  template <class Weight>
  void operator()(const DraftTree& tree, const Weight& probability) {
    if (!(probability > Weight(0))) return;
    std::vector<int> numbers(static_cast<std::size_t>(tree.size()));
    for (int u = 0; u < tree.size(); ++u) numbers[static_cast<std::size_t>(u)] = number(tree, u, numbers);
    std::sort(numbers.begin(), numbers.end());
    trees_.try_emplace(std::move(numbers), 0).first->second += Rational(probability);
  }

  TreeLaw law() const {
    TreeLaw law{prefixes_, {}};
    std::vector<Rational> probabilities;
    for (const auto& [nodes, probability] : trees_) probabilities.push_back(probability);
    normalise(probabilities);
    std::size_t t = 0;
    for (const auto& [nodes, probability] : trees_) law.trees.push_back({nodes, probabilities[t++]});
    return law;
  }

 private:
  /// `numbers` holds those of the nodes before u, its parent's among them.
  int number(const DraftTree& tree, int u, const std::vector<int>& numbers) {
    const int parent = u == DraftTree::root ? -1 : numbers[static_cast<std::size_t>(tree.parent(u))];
    if (const int known = index_.find(parent, tree.token(u)); known >= 0) return known;
    const L& laws = conditionals_.laws(tree.context(u));
    std::vector<Rational> row;
    for (Token x = 0; x < laws.vocabulary(); ++x) row.emplace_back(laws.target(x));
    normalise(row);
    const int fresh = static_cast<int>(prefixes_.size());
    prefixes_.push_back({parent, tree.token(u), tree.depth(u), std::move(row)});
    index_.add(parent, tree.token(u), fresh);
    return fresh;
  }

  const ConditionalModel<L>& conditionals_;
  PrefixIndex index_;
  std::vector<TreeLaw::Prefix> prefixes_;
  std::map<std::vector<int>, Rational> trees_;
};

}  // namespace draftproof
