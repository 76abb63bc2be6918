// Losslessness of a scheme with state: iterations one after the other, each with what the one before left, emit a
// sequence whose first N tokens have the target's law. N = L + 2 looks past the longest step.
//
// A single iteration of such a scheme need not have the target's law: what it owes is in the carry.
#pragma once

#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/paths/process_law.hpp>
#include <draftproof/properties/paths/wrong_prefix.hpp>

namespace draftproof::checks::paths {

struct ProcessLaw {
  static constexpr std::string_view name = "process_law";
  static constexpr std::string_view about = "with state: the first L + 2 tokens of the process have the target's law";
  static constexpr int every = 1;

  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter) {
    return verifier.info().promise != Promise::lossless_up_to && verifier.stateful() && declares_every_row(drafter);
  }
  static Answer check(PathInstanceAnalysis& at) {
    const PathInstance& instance = at.instance();
    const auto conditionals = instance.conditionals();
    const auto decider = at.verifier().prove_on(conditionals, instance.shape);
    const auto process = at.verifier().process_on(conditionals);
    // One iteration, on the budget of branches that the whole examination has.
    const auto iterate = [&](int context, const VerifierState<Rational>& carry, auto&& sink) {
      bool complete = true;
      const auto on_tree = [&](const DraftTree& tree, const Rational& drawn) {
        const auto steps = complete ? at.outputs(*decider, tree, carry) : std::nullopt;
        complete = complete && steps;
        if (!complete) return;
        for (const auto& [step, probability] : *steps) {
          const auto [node, extra] = step;
          Tokens emitted = path_to(tree, node);
          emitted.push_back(extra);
          sink(std::move(emitted), conditionals.next(tree.context(node), extra),
               process->after(tree, carry, {node, {extra, none_accepted}}), Rational(drawn * probability));
        }
      };
      return at.each_tree(conditionals, instance.shape, on_tree, context) && complete;
    };
    const auto law = walk_process<Rational>(iterate, instance.shape.length + 2);
    if (!law.complete) return Answer::undecided("more than " + std::to_string(at.limits().leaves) + " branches");
    const auto wrong = first_wrong_prefix(law.emitted, conditionals);
    return Answer::held_if(!wrong, [&] { return wrong->text(); });
  }
};

}  // namespace draftproof::checks::paths
