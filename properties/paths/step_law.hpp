// The exact law of the tokens emitted by one iteration, by a walk of every drafted tree and every branch of the
// verifier on it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <draftproof/properties/instances/path_instance.hpp>
#include <draftproof/properties/proof/output_law.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>

namespace draftproof {

/// Calls `sink(tree, probability)` for every tree the drafter may draw from `context`. Returns the number of branches
/// walked, or 0 if the limit cut the walk short.
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

/// Calls `sink(node, extra, probability)` for every output of the verifier on `tree`; probabilities sum to 1. Returns
/// false if the limit cut the walk short. Adds the branches walked to `leaves`.
template <class L, class Weight, class Sink>
[[nodiscard]] bool explore_steps(PathDecider<L, Explorer<Weight>>& decider, const DraftTree& tree,
                                 const VerifierState<Weight>& carry, ExplorerLimits limits, Sink&& sink,
                                 std::uint64_t* leaves = nullptr) {
  Explorer<Weight> explorer(limits);
  int node = DraftTree::root;
  const bool whole = explorer.explore(
      [&](Explorer<Weight>& random) {
        const StepOutput step = decider.decide(tree, carry, random);
        node = step.node;
        return step.extra;
      },
      [&](const Leaf<Weight>& leaf) {
        leaf.each_token([&](Token extra, const Weight& probability) { sink(node, extra, probability); });
      });
  if (leaves) *leaves += explorer.leaves();
  return whole;
}

/// The tokens from the root to `node`.
inline Tokens path_to(const DraftTree& tree, int node) {
  Tokens path(static_cast<std::size_t>(tree.depth(node)));
  for (; tree.depth(node) > 0; node = tree.parent(node))
    path[static_cast<std::size_t>(tree.depth(node) - 1)] = tree.token(node);
  return path;
}

/// The leaves of the tree as prefixes: "{[0 1] [2]}".
inline std::string tree_text(const DraftTree& tree) {
  std::string text = "{";
  for (int u = 0; u < tree.size(); ++u)
    if (tree.leaf(u)) text += (text.size() > 1 ? " " : "") + prefix_text(path_to(tree, u));
  return text + "}";
}

template <class Weight>
struct StepLaw {
  std::map<Tokens, Weight> emitted;  ///< law of the accepted tokens with the extra one
  std::vector<Weight> accepted;      ///< probability of 0 .. L accepted tokens
  Weight mass{0};                    ///< explored probability; 1 when complete
  std::uint64_t leaves = 0;          ///< branches of the verifier, over all trees
  bool complete = true;

  /// E[tau]: expected number of accepted tokens, without the extra one. Throws: EnumerationCut if the law is not complete.
  Weight mean_accepted() const {
    if (!complete) throw EnumerationCut("too many branches of an iteration to enumerate");
    Weight mean{0};
    for (std::size_t i = 1; i < accepted.size(); ++i) mean += Weight(static_cast<int>(i)) * accepted[i];
    return mean;
  }
};

/// The law of one iteration from `context`. `limits` applies to the trees, and to the verifier's branches on all
/// trees together.
template <class L, class Weight = typename L::Scalar>
StepLaw<Weight> explore_step_law(const AnyTreeDrafter& drafter, PathDecider<L, Explorer<Weight>>& decider,
                                 const ConditionalModel<L>& conditionals, const TreeShape& shape, int context = 0,
                                 ExplorerLimits limits = {}) {
  StepLaw<Weight> law;
  law.accepted.assign(static_cast<std::size_t>(shape.length) + 1, Weight(0));
  std::map<std::pair<int, Token>, Weight> steps;  // of one tree: its fractions are short, so they are added first
  const auto on_tree = [&](const DraftTree& tree, const Weight& drawn) {
    steps.clear();
    const auto sink = [&](int node, Token extra, const Weight& probability) { steps[{node, extra}] += probability; };
    const ExplorerLimits rest{.leaves = limits.leaves - law.leaves};
    law.complete = law.complete && explore_steps<L, Weight>(decider, tree, {}, rest, sink, &law.leaves);
    for (const auto& [step, probability] : steps) {
      const Weight weight = drawn * probability;
      Tokens tokens = path_to(tree, step.first);
      tokens.push_back(step.second);
      law.accepted[tokens.size() - 1] += weight;
      law.emitted[std::move(tokens)] += weight;
    }
  };
  const bool all = explore_trees<L, Weight>(drafter, conditionals, shape, context, limits, on_tree) > 0;
  law.complete = law.complete && all;
  for (const Weight& weight : law.accepted) law.mass += weight;
  return law;
}

}  // namespace draftproof
