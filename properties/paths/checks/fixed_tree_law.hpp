// Losslessness on one tree at a time: drafts that are a function of the context leave no randomness to average over,
// and a scheme that takes any drafts may not rely on theirs. The law of completed_law, given each drafted tree.
//
// A scheme written for sampled drafts must not be held to this: given its drafts it is not exact.
#pragma once

#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/paths/wrong_prefix.hpp>

namespace draftproof::checks::paths {

struct FixedTreeLaw {
  static constexpr std::string_view name = "fixed_tree_law";
  static constexpr std::string_view about =
      "fixed drafts, or a scheme for any: given the tree, the next token has the target's law";
  static constexpr int every = 4;

  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter) {
    return verifier.info().promise == Promise::lossless && !verifier.stateful() &&
           (drafter.info().fixed || verifier.info().drafts.any());
  }
  static Answer check(PathInstanceAnalysis& at) {
    const auto conditionals = at.instance().conditionals();
    const auto decider = at.verifier().prove_on(conditionals, at.instance().shape);
    bool complete = true;
    std::string evidence;
    const auto on_tree = [&](const DraftTree& tree, const Rational&) {
      const auto steps = complete ? at.outputs(*decider, tree) : std::nullopt;
      complete = complete && steps;
      if (!complete || !evidence.empty()) return;
      std::map<Tokens, Rational> emitted;
      for (const auto& [step, probability] : *steps) {
        Tokens tokens = path_to(tree, step.first);
        tokens.push_back(step.second);
        emitted[std::move(tokens)] += probability;
      }
      if (const auto wrong = first_wrong_prefix(emitted, conditionals))
        evidence = "given the tree " + tree_text(tree) + ", " + wrong->text();
    };
    const bool all = at.each_tree(conditionals, at.instance().shape, on_tree);
    if (!evidence.empty()) return Answer::violated(evidence);
    if (!all || !complete) return Answer::undecided("more than " + std::to_string(at.limits().leaves) + " branches");
    return Answer::held();
  }
};

}  // namespace draftproof::checks::paths
