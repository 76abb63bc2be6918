// The exact distribution of the tokens emitted by one iteration, and by a process of iterations, by enumeration
// of every drafted tree and of every branch of the verifier on it.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <draftproof/properties/instances/path_instance.hpp>
#include <draftproof/properties/proof/instance_analysis.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>

namespace draftproof {

/// Calls `sink(tree, probability)` for every tree that the drafter may draw from `context`. Returns the number
/// of branches enumerated, or 0 if the enumeration reached its limit.
template <class L, class Weight, class Sink>
[[nodiscard]] std::uint64_t explore_trees(const AnyTreeDrafter& drafter, const ConditionalModel<L>& conditionals,
                                          const TreeShape& shape, int context, ExplorerLimits limits, Sink&& sink) {
  Explorer<Weight> explorer(limits);
  DraftTree tree;
  const bool whole = explorer.explore(
      [&](Explorer<Weight>& random) {
        tree.clear(context);
        drafter.draw(conditionals, shape, random, tree);
        return Verdict{0, none_accepted};
      },
      [&](const Leaf<Weight>& leaf) { sink(static_cast<const DraftTree&>(tree), leaf.probability); });
  return whole ? explorer.leaves() : 0;
}

/// Calls `sink(node, extra, probability)` for every output of the verifier on `tree`; probabilities sum to 1.
/// Returns false if the enumeration reached its limit. Adds the number of branches to `leaves`.
template <class L, class Weight, class Sink>
[[nodiscard]] bool explore_steps(PathDecider<L, Explorer<Weight>>& decider, const DraftTree& tree,
                                 const VerifierState<Weight>& carry, ExplorerLimits limits, Sink&& sink,
                                 std::uint64_t* leaves = nullptr) {
  Explorer<Weight> explorer(limits);
  // On small trees the last draw is performed, because a program may change the token that it returns.
  explorer.emit_at_once(std::same_as<Weight, Rational> && limits.vocabulary > 0 && limits.vocabulary <= 3 &&
                        tree.size() <= 4);
  int node = DraftTree::root;
  const bool whole = explorer.explore(
      [&](Explorer<Weight>& random) {
        const StepOutput step = decider.decide(tree, carry, random);
        node = step.node;
        if (node < 0 || node >= tree.size())
          throw std::logic_error("the program accepts node " + std::to_string(node) + " of a tree of " +
                                 std::to_string(tree.size()) + " nodes");
        return step.extra;
      },
      [&](const Leaf<Weight>& leaf) {
        leaf.each_token([&](Token extra, const Weight& probability) { sink(node, extra, probability); });
      });
  if (leaves) *leaves += explorer.leaves();
  return whole;
}

/// Returns the tokens from the root to `node`.
inline Tokens path_to(const DraftTree& tree, int node) {
  Tokens path(static_cast<std::size_t>(tree.depth(node)));
  for (; tree.depth(node) > 0; node = tree.parent(node))
    path[static_cast<std::size_t>(tree.depth(node) - 1)] = tree.token(node);
  return path;
}

/// Returns the leaves of the tree as prefixes: "{[0 1] [2]}".
inline std::string tree_text(const DraftTree& tree) {
  std::string text = "{";
  for (int u = 0; u < tree.size(); ++u)
    if (tree.leaf(u)) text += (text.size() > 1 ? " " : "") + prefix_text(path_to(tree, u));
  return text + "}";
}

template <class Weight>
struct StepDistribution {
  std::map<Tokens, Weight> emitted;  ///< distribution of the accepted tokens with the extra one
  std::vector<Weight> accepted;      ///< probability of 0 .. L accepted tokens
  Weight mass{0};                    ///< total probability of the enumerated branches; 1 if complete
  std::uint64_t leaves = 0;          ///< number of the verifier's branches, over all trees
  bool complete = true;

  /// Returns E[tau]: expected number of accepted tokens, without the extra one. Throws: EnumerationCut if the
  /// distribution is not complete.
  Weight mean_accepted() const {
    if (!complete) throw EnumerationCut("too many branches of an iteration to enumerate");
    Weight mean{0};
    for (std::size_t i = 1; i < accepted.size(); ++i) mean += Weight(static_cast<int>(i)) * accepted[i];
    return mean;
  }
};

/// Returns the distribution of one iteration from `context`. `limits` applies to the trees, and to the
/// verifier's branches on all trees together.
template <class L, class Weight = typename L::Scalar>
StepDistribution<Weight> explore_step_distribution(const AnyTreeDrafter& drafter,
                                                   PathDecider<L, Explorer<Weight>>& decider,
                                                   const ConditionalModel<L>& conditionals, const TreeShape& shape,
                                                   int context = 0, ExplorerLimits limits = {}) {
  StepDistribution<Weight> distribution;
  distribution.accepted.assign(static_cast<std::size_t>(shape.length) + 1, Weight(0));
  // Sums over one tree, formed first because their fractions are short.
  std::map<std::pair<int, Token>, Weight> steps;
  const auto on_tree = [&](const DraftTree& tree, const Weight& drawn) {
    steps.clear();
    const auto sink = [&](int node, Token extra, const Weight& probability) { steps[{node, extra}] += probability; };
    const ExplorerLimits rest{.leaves = limits.leaves - distribution.leaves,
                              .vocabulary = conditionals.distributions(context).vocabulary()};
    distribution.complete =
        distribution.complete && explore_steps<L, Weight>(decider, tree, {}, rest, sink, &distribution.leaves);
    for (const auto& [step, probability] : steps) {
      const Weight weight = drawn * probability;
      Tokens tokens = path_to(tree, step.first);
      tokens.push_back(step.second);
      distribution.accepted[tokens.size() - 1] += weight;
      distribution.emitted[std::move(tokens)] += weight;
    }
  };
  const bool all = explore_trees<L, Weight>(drafter, conditionals, shape, context, limits, on_tree) > 0;
  distribution.complete = distribution.complete && all;
  for (const Weight& weight : distribution.accepted) distribution.mass += weight;
  return distribution;
}

// The exact distribution of a process of iterations, each starting with the context and carry that the previous
// one returned. A stateful scheme is lossless as a process; a single iteration need not be.
//
//   state        context, carry      all that the next iteration depends on
//   N            tokens              the process runs until it has N tokens, and is cut after them
//
// Dynamic programming over states: equal states reached in different ways are merged. Every tree and every
// branch of the verifier is enumerated once for each state and prefix.

/// An iterated scheme; `process` is null if it has no carry.
template <class L, class Weight = typename L::Scalar>
struct IteratedScheme {
  const AnyTreeDrafter& drafter;
  PathDecider<L, Explorer<Weight>>& decider;
  PathProcess<L>* process;
  const ConditionalModel<L>& conditionals;
  TreeShape shape;
  ExplorerLimits limits{};
};

/// A state of a process: the tokens so far (empty if only their number is needed), their context, and the carry.
template <class Weight>
struct ProcessState {
  Tokens prefix;
  int context;
  VerifierState<Weight> carry;

  /// Orders states with shorter prefixes first. An iteration emits at least one token, so once the first state has been
  /// processed, it is never reached again.
  bool operator<(const ProcessState& other) const {
    if (prefix.size() != other.prefix.size()) return prefix.size() < other.prefix.size();
    if (prefix != other.prefix) return prefix < other.prefix;
    if (context != other.context) return context < other.context;
    return std::lexicographical_compare(carry.begin(), carry.end(), other.carry.begin(), other.carry.end(),
                                        [](const PendingResidual<Weight>& a, const PendingResidual<Weight>& b) {
                                          if (a.remaining != b.remaining) return a.remaining < b.remaining;
                                          return a.ratio < b.ratio;
                                        });
  }
};

/// Calls `sink(emitted tokens, context after them, carry, probability)` for every outcome of one iteration.
/// Returns false if the enumeration reached its limits.
template <class L, class Weight, class Sink>
[[nodiscard]] bool explore_iteration(const IteratedScheme<L, Weight>& scheme, int context,
                                     const VerifierState<Weight>& carry, Sink&& sink) {
  bool whole = true;
  ExplorerLimits limits = scheme.limits;
  limits.vocabulary = scheme.conditionals.distributions(context).vocabulary();
  whole &= explore_trees<L, Weight>(
               scheme.drafter, scheme.conditionals, scheme.shape, context, scheme.limits,
               [&](const DraftTree& tree, const Weight& drawn) {
                 whole &= explore_steps<L, Weight>(
                     scheme.decider, tree, carry, limits, [&](int node, Token extra, const Weight& probability) {
                       Tokens emitted = path_to(tree, node);
                       emitted.push_back(extra);
                       VerifierState<Weight> next{};
                       if (scheme.process)
                         next = scheme.process->after(tree, carry, StepOutput{node, {extra, none_accepted}});
                       sink(std::move(emitted), scheme.conditionals.next(tree.context(node), extra), std::move(next),
                            Weight(drawn * probability));
                     });
               }) > 0;
  return whole;
}

template <class Weight>
struct ProcessDistribution {
  std::map<Tokens, Weight> emitted;  ///< the first N tokens
  bool complete = true;
};

/// Returns the distribution of the first `tokens` tokens, starting from `context` without a carry.
/// `iterate(context, carry, sink)` enumerates one iteration as explore_iteration() does; if it returns false,
/// the result is incomplete.
template <class Weight, class Iterate>
ProcessDistribution<Weight> enumerate_process(Iterate&& iterate, int tokens, int context = 0) {
  ProcessDistribution<Weight> distribution;
  std::map<ProcessState<Weight>, Weight> open;
  open[{{}, context, {}}] = Weight(1);
  while (distribution.complete && !open.empty()) {
    const auto state = open.extract(open.begin());
    const ProcessState<Weight>& from = state.key();
    distribution.complete =
        iterate(from.context, from.carry,
                [&](Tokens emitted, int next, VerifierState<Weight> left, const Weight& probability) {
                  Tokens longer = from.prefix;
                  longer.insert(longer.end(), emitted.begin(), emitted.end());
                  const Weight reached = state.mapped() * probability;
                  if (static_cast<int>(longer.size()) >= tokens) {
                    longer.resize(static_cast<std::size_t>(tokens));
                    distribution.emitted[std::move(longer)] += reached;
                  } else {
                    open[{std::move(longer), next, std::move(left)}] += reached;
                  }
                });
  }
  return distribution;
}

/// Calls enumerate_process() for an iterated scheme.
template <class L, class Weight>
ProcessDistribution<Weight> explore_process(const IteratedScheme<L, Weight>& scheme, int tokens, int context = 0) {
  return enumerate_process<Weight>([&](int from, const VerifierState<Weight>& carry,
                                       auto&& sink) { return explore_iteration(scheme, from, carry, sink); },
                                   tokens, context);
}

/// Returns the expected number of tokens after 1, 2, .., `iterations` iterations. Throws: EnumerationCut at the
/// limits.
template <class L, class Weight>
std::vector<Weight> expected_tokens(const IteratedScheme<L, Weight>& scheme, int iterations, int context = 0) {
  std::map<ProcessState<Weight>, Weight> states;
  states[{{}, context, {}}] = Weight(1);
  std::vector<Weight> tokens;
  Weight sum{0};
  for (int i = 0; i < iterations; ++i) {
    std::map<ProcessState<Weight>, Weight> after;
    for (const auto& [state, reached] : states)
      if (!explore_iteration(scheme, state.context, state.carry,
                             [&, &reached = reached](const Tokens& emitted, int next, VerifierState<Weight> left,
                                                     const Weight& probability) {
                               const Weight weight = reached * probability;
                               sum += weight * Weight(static_cast<int>(emitted.size()));
                               after[{{}, next, std::move(left)}] += weight;
                             }))
        throw EnumerationCut("too many branches of an iteration to enumerate");
    states = std::move(after);
    tokens.push_back(sum);
  }
  return tokens;
}

/// Returns the probability of `tokens` after `context` under the target.
template <class L>
typename L::Scalar target_probability(const ConditionalModel<L>& conditionals, int context,
                                      std::span<const Token> tokens) {
  typename L::Scalar probability = conditionals.distributions(context).one();
  for (const Token x : tokens) {
    probability *= conditionals.distributions(context).target(x);
    context = conditionals.next(context, x);
  }
  return probability;
}

}  // namespace draftproof
