// Losslessness of a scheme with state: iterations one after the other, each with what the one before left, emit a
// sequence whose first N tokens have the target's law. N = L + 2 looks past the longest passage.
//
//   state   (tokens emitted so far, carry): what the future depends on; its mass is moved on, shortest first
//
// A single iteration of such a scheme need not have the target's law: what it owes is in the carry.
#pragma once

#include <draftproof/properties/paths/path_property.hpp>
#include <draftproof/properties/paths/wrong_prefix.hpp>

namespace draftproof::laws::paths {

struct ProcessLaw {
  static constexpr std::string_view name = "process_law";
  static constexpr std::string_view about = "with state: the first L + 2 tokens of the process have the target's law";
  static constexpr int every = 1;

  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter&) {
    return verifier.info().promise == Promise::lossless && verifier.stateful();
  }
  static Answer check(PathExamination& at) {
    const PathInstance& instance = at.instance();
    const auto contexts = instance.contexts();
    const auto decider = at.verifier().prove_on(contexts, instance.shape);
    const auto process = at.verifier().process_on(contexts);
    const auto wanted = static_cast<std::size_t>(instance.shape.length) + 2;
    States open{{{{}, {}}, Rational(1)}};
    std::map<Tokens, Rational> sequences;
    bool complete = true;
    while (complete && !open.empty()) {
      const auto [state, mass] = *open.begin();  // nothing shorter comes later: every passage adds a token
      open.erase(open.begin());
      int context = 0;
      for (const Token x : state.emitted) context = contexts.next(context, x);
      const auto on_tree = [&](const DraftTree& tree, const Rational& drawn) {
        const auto passages = complete ? at.passages(*decider, tree, state.carry) : std::nullopt;
        complete = complete && passages;
        if (!complete) return;
        for (const auto& [passage, probability] : *passages) {
          State after{state.emitted, {}};
          const Tokens path = path_to(tree, passage.first);
          after.emitted.insert(after.emitted.end(), path.begin(), path.end());
          after.emitted.push_back(passage.second);
          const Rational moved = mass * drawn * probability;
          if (after.emitted.size() < wanted) {
            after.carry = process->after(tree, state.carry, {passage.first, {passage.second, none_accepted}});
            open[std::move(after)] += moved;
          } else {
            after.emitted.resize(wanted);
            sequences[std::move(after.emitted)] += moved;
          }
        }
      };
      const bool all = at.each_tree(contexts, instance.shape, on_tree, context);
      complete = complete && all;
    }
    if (!complete) return Answer::undecided("more than " + std::to_string(at.limits().leaves) + " branches");
    const auto wrong = first_wrong_prefix(sequences, contexts);
    return Answer::held_if(!wrong, [&] { return wrong->text(); });
  }

 private:
  struct State {
    Tokens emitted;
    Carry<Rational> carry;

    bool operator<(const State& other) const {
      if (emitted != other.emitted) return ShorterFirst{}(emitted, other.emitted);
      return std::lexicographical_compare(
          carry.begin(), carry.end(), other.carry.begin(), other.carry.end(), [](const auto& a, const auto& b) {
            return a.remaining != b.remaining ? a.remaining < b.remaining : a.ratio < b.ratio;
          });
    }
  };
  using States = std::map<State, Rational>;
};

}  // namespace draftproof::laws::paths
