// Losslessness of a scheme with state, one iteration at a time. From every state that the process reaches, the
// tokens of an iteration, completed with tokens of the next state's target, are distributed as the first
// state's target.
//
//   s            context, carry        a state; the process starts without a carry
//   p_s          carried_target.hpp    the target that the carry defines; p(.|context) without a carry
//   checked      sum over e, s' of Pr[emit e, next state s'] p_s'(rest|e) = p_s(y) for every y
//
// The check enumerates each state within L + 2 tokens once, and names the first wrong state. If it passes, so does
// process_distribution, by induction over iterations from the last to the first. The converse does not hold: a scheme
// whose carry has another meaning than its definition may pass process_distribution, but fails here.
//
// Cost: all trees and, with a carry, V^L sequences per state.
//
// Source: derived here; proved by enumeration.
#pragma once

#include <set>

#include <draftproof/properties/paths/carried_target.hpp>
#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/paths/step_distribution.hpp>

namespace draftproof::checks::paths {

struct StateDistribution {
  static constexpr std::string_view name = "state_distribution";
  static constexpr std::string_view about =
      "with state: from every state, an iteration completed by the next state's target has the state's target";
  static constexpr int every = 1;

  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter) {
    return verifier.info().promise != Promise::lossless_up_to && verifier.stateful() && declares_every_row(drafter);
  }
  static Answer check(PathInstanceAnalysis& at) {
    const auto conditionals = at.instance().conditionals();
    const Scheme scheme{conditionals, at.verifier().prove_on(conditionals, at.instance().shape),
                        at.verifier().process_on(conditionals)};
    std::set<State> open{{{}, 0, {}}}, seen;
    while (!open.empty()) {
      const State from = open.extract(open.begin()).value();
      if (!seen.insert({{}, from.context, from.carry}).second) continue;
      const auto steps = iterate(at, scheme, from);
      if (!steps) return Answer::undecided("more than " + std::to_string(at.limits().leaves) + " branches");
      if (const auto answer = balance(at, conditionals, from, *steps); answer.status != Status::passed) return answer;
      for (const auto& [step, probability] : *steps) {
        Tokens prefix = from.prefix;
        prefix.insert(prefix.end(), step.prefix.begin(), step.prefix.end());
        if (std::ssize(prefix) < at.instance().shape.length + 2)
          open.insert({std::move(prefix), step.context, step.carry});
      }
    }
    return Answer::passed();
  }

 private:
  using Distributions = PathInstanceAnalysis::Distributions;
  using State = ProcessState<Rational>;
  using Outputs = std::map<State, Rational>;  ///< probability of each result: emitted tokens and next state

  struct Scheme {
    const PrefixTable<Distributions>& conditionals;
    PathDeciderPtr<Distributions, Explorer<Rational>> decider;
    std::unique_ptr<PathProcess<Distributions>> process;  ///< null without a carry
  };

  static std::optional<Outputs> iterate(PathInstanceAnalysis& at, const Scheme& scheme, const State& from) {
    Outputs steps;
    bool complete = true;
    const auto on_tree = [&](const DraftTree& tree, const Rational& drawn) {
      const auto outputs = complete ? at.outputs(*scheme.decider, tree, from.carry) : std::nullopt;
      complete = complete && outputs;
      if (!complete) return;
      for (const auto& [output, probability] : *outputs) {
        const auto [node, extra] = output;
        State left{path_to(tree, node), scheme.conditionals.next(tree.context(node), extra), {}};
        left.prefix.push_back(extra);
        if (scheme.process) left.carry = scheme.process->after(tree, from.carry, {node, {extra, none_accepted}});
        steps[std::move(left)] += drawn * probability;
      }
    };
    if (!at.each_tree(scheme.conditionals, at.instance().shape, on_tree, from.context) || !complete)
      return std::nullopt;
    return steps;
  }

  static Answer balance(const PathInstanceAnalysis& at, const PrefixTable<Distributions>& conditionals,
                        const State& from, const Outputs& steps) {
    const auto blame = [&from](const std::string& what) {
      return Answer::failed("an iteration after " + prefix_text(from.prefix) + " with " + carry_text(from.carry) +
                            " carried: " + what);
    };
    const CarriedTarget wanted(conditionals, from.context, from.carry);
    std::map<Tokens, Rational> completed;
    for (const auto& [step, probability] : steps) {
      const CarriedTarget left(conditionals, step.context, step.carry);
      if (!left.exists())
        return blame("emits " + prefix_text(step.prefix) + " and leaves " + carry_text(step.carry) +
                     ", whose target is empty");
      // Tokens beyond `length` need no check: there both targets are the model's, so all further tokens agree (see
      // completed_distribution).
      const int length = std::max(wanted.reach(), static_cast<int>(step.prefix.size()) + left.reach());
      Tokens tokens = step.prefix;
      if (!complete(completed, tokens, left, probability, length, at.limits().leaves))
        return Answer::undecided("more than " + std::to_string(at.limits().leaves) + " sequences");
    }
    const auto target_after = [&wanted](const Tokens& prefix) {
      CarriedTarget target = wanted;
      for (const Token x : prefix) target = target.after(x);
      return target.row();
    };
    const auto wrong = first_wrong_prefix(completed, conditionals.vocabulary(), target_after);
    return wrong ? blame(wrong->text()) : Answer::passed();
  }

  /// Adds all continuations of `tokens` by `target`, up to `length` tokens. Returns false beyond the limit.
  static bool complete(std::map<Tokens, Rational>& completed, Tokens& tokens, const CarriedTarget& target,
                       const Rational& probability, int length, std::uint64_t most) {
    if (std::ssize(tokens) >= length) {
      completed[tokens] += probability;
      return completed.size() <= most;
    }
    bool within = true;
    for (std::size_t x = 0; x < target.row().size() && within; ++x) {
      if (!(target.row()[x] > 0)) continue;
      const auto next = static_cast<Token>(x);
      tokens.push_back(next);
      within = complete(completed, tokens, target.after(next), probability * target.row()[x], length, most);
      tokens.pop_back();
    }
    return within;
  }
};

}  // namespace draftproof::checks::paths
