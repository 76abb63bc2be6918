// The exact law of a process of iterations, each starting with the context and carry that the previous one left. A
// stateful scheme is lossless as a process; one iteration of it need not be.
//
//   state        context, carry      all that the next iteration depends on
//   N            tokens              the process runs until it has N tokens, and is cut after them
//
// Dynamic programming over states: equal states on different ways are merged. Every tree and every branch of the
// verifier is walked once for each state and prefix.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <draftproof/properties/paths/step_law.hpp>

namespace draftproof {

/// An iterated scheme; `process` is null if it carries nothing.
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

  /// Shorter prefixes come first. An iteration emits at least one token, so the first state is final.
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

/// Calls `sink(emitted tokens, context after them, carry, probability)` for every outcome of one iteration. Returns
/// false if the limits cut the walk short.
template <class L, class Weight, class Sink>
[[nodiscard]] bool explore_iteration(const IteratedScheme<L, Weight>& scheme, int context,
                                     const VerifierState<Weight>& carry, Sink&& sink) {
  bool whole = true;
  whole &=
      explore_trees<L, Weight>(
          scheme.drafter, scheme.conditionals, scheme.shape, context, scheme.limits,
          [&](const DraftTree& tree, const Weight& drawn) {
            whole &= explore_steps<L, Weight>(
                scheme.decider, tree, carry, scheme.limits, [&](int node, Token extra, const Weight& probability) {
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
struct ProcessLaw {
  std::map<Tokens, Weight> emitted;  ///< the first N tokens
  bool complete = true;
};

/// Law of the first `tokens` tokens, starting from `context` without a carry. `iterate(context, carry, sink)` walks
/// one iteration as explore_iteration does; if it returns false, the walk ends and the law is incomplete.
template <class Weight, class Iterate>
ProcessLaw<Weight> walk_process(Iterate&& iterate, int tokens, int context = 0) {
  ProcessLaw<Weight> law;
  std::map<ProcessState<Weight>, Weight> open;
  open[{{}, context, {}}] = Weight(1);
  while (law.complete && !open.empty()) {
    const auto state = open.extract(open.begin());
    const ProcessState<Weight>& from = state.key();
    law.complete = iterate(from.context, from.carry,
                           [&](Tokens emitted, int next, VerifierState<Weight> left, const Weight& probability) {
                             Tokens longer = from.prefix;
                             longer.insert(longer.end(), emitted.begin(), emitted.end());
                             const Weight reached = state.mapped() * probability;
                             if (static_cast<int>(longer.size()) >= tokens) {
                               longer.resize(static_cast<std::size_t>(tokens));
                               law.emitted[std::move(longer)] += reached;
                             } else {
                               open[{std::move(longer), next, std::move(left)}] += reached;
                             }
                           });
  }
  return law;
}

/// walk_process for an iterated scheme.
template <class L, class Weight>
ProcessLaw<Weight> explore_process(const IteratedScheme<L, Weight>& scheme, int tokens, int context = 0) {
  return walk_process<Weight>([&](int from, const VerifierState<Weight>& carry,
                                  auto&& sink) { return explore_iteration(scheme, from, carry, sink); },
                              tokens, context);
}

/// Expected number of tokens after 1, 2, .., `iterations` iterations. Throws: EnumerationCut beyond the limits.
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

/// Probability of `tokens` after `context` under the target.
template <class L>
typename L::Scalar target_probability(const ConditionalModel<L>& conditionals, int context, const Tokens& tokens) {
  typename L::Scalar probability = conditionals.laws(context).one();
  for (const Token x : tokens) {
    probability *= conditionals.laws(context).target(x);
    context = conditionals.next(context, x);
  }
  return probability;
}

}  // namespace draftproof
