// Small models in fractions, and exact distributions of schemes of paths on them.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/properties/instances/instance_text.hpp>
#include <draftproof/properties/paths/step_distribution.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof::small {

using Row = std::vector<Rational>;
using Model = PrefixTable<Rows<Rational>>;

/// Returns a model with one row for every context. The published two-token example of arXiv:2403.10444 is constant({1,
/// 2}, {2, 1}).
inline Model constant(std::vector<int> target, std::vector<int> proposal) {
  return Model({Rows<Rational>(normalised(target), normalised(proposal))});
}

/// The kind of a random model's rows.
enum class Kind { any, equal, disjoint, one_hot_target };

/// Returns random rows at every prefix of up to `length` tokens; weights are 0 to 5, with zeros and ties.
inline Model random_model(int seed, int vocabulary, int length, Kind kind = Kind::any) {
  InstanceRng dice(20260, static_cast<std::uint64_t>(seed));
  const auto weights = [&](Token from, Token to) {
    std::vector<int> row(static_cast<std::size_t>(vocabulary), 0);
    int total = 0;
    while (total == 0)
      for (Token x = from; x < to; ++x) total += row[static_cast<std::size_t>(x)] = dice.between(0, 5);
    return row;
  };
  std::vector<Rows<Rational>> rows;
  int nodes = 0;
  for (int level = 0, width = 1; level <= length; ++level, width *= vocabulary) nodes += width;
  for (int c = 0; c < nodes; ++c) {
    const Token split = kind == Kind::disjoint ? vocabulary / 2 : 0;
    const std::vector<int> q = weights(0, kind == Kind::disjoint ? split : vocabulary);
    std::vector<int> p = kind == Kind::equal ? q : weights(split, vocabulary);
    if (kind == Kind::one_hot_target) {
      p.assign(p.size(), 0);
      p[static_cast<std::size_t>(dice.between(0, vocabulary - 1))] = 1;
    }
    rows.emplace_back(normalised(p), normalised(q));
  }
  return Model(std::move(rows));
}

inline const AnyPathVerifier& verifier(std::string_view name) {
  const AnyPathVerifier* found = path_registry().verifier(name);
  if (!found) throw std::invalid_argument("no such verifier of paths: " + std::string(name));
  return *found;
}
inline const AnyTreeDrafter& drafter(std::string_view name) {
  const AnyTreeDrafter* found = path_registry().drafter(name);
  if (!found) throw std::invalid_argument("no such drafter of trees: " + std::string(name));
  return *found;
}

inline StepDistribution<Rational> distribution(std::string_view scheme, std::string_view trees, const Model& model,
                                               const TreeShape& shape) {
  const auto decider = verifier(scheme).prove_on(model, shape);
  return explore_step_distribution<Rows<Rational>>(drafter(trees), *decider, model, shape);
}

/// Whether, for every prefix x, given that a step emits x and at least one more token, the token after x has the
/// target's distribution.
inline bool exact(const StepDistribution<Rational>& distribution, const Model& model) {
  std::map<Tokens, Rational> reached;  // probability that the step begins with these tokens
  for (const auto& [tokens, probability] : distribution.emitted)
    for (std::size_t n = 1; n <= tokens.size(); ++n)
      reached[Tokens(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(n))] += probability;
  std::map<Tokens, Rational> beyond;
  for (const auto& [tokens, probability] : reached) beyond[Tokens(tokens.begin(), tokens.end() - 1)] += probability;
  for (const auto& [prefix, probability] : beyond) {
    int context = 0;
    for (const Token x : prefix) context = model.next(context, x);
    for (Token y = 0; y < model.vocabulary(); ++y) {
      Tokens longer = prefix;
      longer.push_back(y);
      const auto found = reached.find(longer);
      if ((found == reached.end() ? Rational(0) : found->second) !=
          probability * model.distributions(context).target(y))
        return false;
    }
  }
  return distribution.complete && distribution.mass == 1;
}

/// The distribution of a verifier's step on one drafted tree: (accepted node, extra token) -> probability.
using OnTree = std::map<std::pair<int, Token>, Rational>;

inline OnTree on_tree(PathDecider<Rows<Rational>, Explorer<Rational>>& decider, const DraftTree& tree) {
  OnTree steps;
  EXPECT_TRUE((explore_steps<Rows<Rational>, Rational>(decider, tree, {}, {},
                                                       [&](int node, Token extra, const Rational& weight) {
                                                         if (weight > 0) steps[{node, extra}] += weight;
                                                       })));
  return steps;
}

/// Calls `check(tree, probability)` on every tree that the drafter may draw. Returns the number of trees.
template <class Check>
int for_each_tree(std::string_view trees, const Model& model, const TreeShape& shape, Check check) {
  int count = 0;
  EXPECT_NE((explore_trees<Rows<Rational>, Rational>(drafter(trees), model, shape, 0, {},
                                                     [&](const DraftTree& tree, const Rational& probability) {
                                                       ++count;
                                                       check(tree, probability);
                                                     })),
            0u);
  return count;
}

/// Returns the number of trees on which the distributions of two schemes differ.
inline int trees_that_differ(std::string_view one, std::string_view other, std::string_view trees, const Model& model,
                             const TreeShape& shape) {
  const auto first = verifier(one).prove_on(model, shape), second = verifier(other).prove_on(model, shape);
  int differing = 0;
  for_each_tree(trees, model, shape, [&](const DraftTree& tree, const Rational&) {
    differing += on_tree(*first, tree) != on_tree(*second, tree);
  });
  return differing;
}

}  // namespace draftproof::small
