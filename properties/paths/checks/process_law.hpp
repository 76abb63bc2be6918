// Losslessness of a scheme with state: iterations one after the other, each with what the one before left, emit a
// sequence whose first N tokens have the target's law. N = L + 2 looks past the longest passage.
//
// A single iteration of such a scheme need not have the target's law: what it owes is in the carry.
#pragma once

#include <draftproof/properties/paths/path_property.hpp>
#include <draftproof/properties/paths/process_law.hpp>
#include <draftproof/properties/paths/wrong_prefix.hpp>

namespace draftproof::laws::paths {

struct ProcessLaw {
  static constexpr std::string_view name = "process_law";
  static constexpr std::string_view about = "with state: the first L + 2 tokens of the process have the target's law";
  static constexpr int every = 1;

  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter&) {
    return verifier.info().promise != Promise::lossless_up_to && verifier.stateful();
  }
  static Answer check(PathExamination& at) {
    const PathInstance& instance = at.instance();
    const auto contexts = instance.contexts();
    const auto decider = at.verifier().prove_on(contexts, instance.shape);
    const auto process = at.verifier().process_on(contexts);
    // One iteration, on the budget of branches that the whole examination has.
    const auto iterate = [&](int context, const Carry<Rational>& carry, auto&& sink) {
      bool complete = true;
      const auto on_tree = [&](const DraftTree& tree, const Rational& drawn) {
        const auto passages = complete ? at.passages(*decider, tree, carry) : std::nullopt;
        complete = complete && passages;
        if (!complete) return;
        for (const auto& [passage, probability] : *passages) {
          const auto [node, extra] = passage;
          Tokens emitted = path_to(tree, node);
          emitted.push_back(extra);
          sink(std::move(emitted), contexts.next(tree.context(node), extra),
               process->after(tree, carry, {node, {extra, none_accepted}}), Rational(drawn * probability));
        }
      };
      return at.each_tree(contexts, instance.shape, on_tree, context) && complete;
    };
    const auto law = walk_process<Rational>(iterate, instance.shape.length + 2);
    if (!law.complete) return Answer::undecided("more than " + std::to_string(at.limits().leaves) + " branches");
    const auto wrong = first_wrong_prefix(law.emitted, contexts);
    return Answer::held_if(!wrong, [&] { return wrong->text(); });
  }
};

}  // namespace draftproof::laws::paths
