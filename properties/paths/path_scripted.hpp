// Single and consecutive iterations on scripted random bits, for edge checks of paths: the rows of a small model in
// double, the drafted trees, and the defects of a step.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <draftproof/properties/instances/path_instance.hpp>
#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/scripted/scripted_decision.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>

namespace draftproof {

using DoubleContexts = PrefixTable<Rows<double>>;
using PathPlayable = PathDecider<Rows<double>, Scripted>;

/// Returns the instance's model in double; `rows_of` returns the rows after each prefix.
DoubleContexts double_distributions(const PathInstance& instance);
DoubleContexts double_distributions(const PathInstance& instance,
                                    const std::function<Rows<double>(const PrefixWeights&)>& rows_of);

/// One iteration with all its draws.
struct ScriptedStep {
  StepOutput output;
  std::vector<Draw> draws;
};
/// Runs one iteration on the random bits `words`.
ScriptedStep run_scripted(PathPlayable& decider, const DraftTree& tree, const VerifierState<double>& carry,
                          Words& words);

/// Returns the tree drafted from the random bits `words` after `context`.
DraftTree drafted(const AnyTreeDrafter& drafter, const DoubleContexts& conditionals, const TreeShape& shape,
                  Words& words, int context = 0);

/// Returns the defect of a step with an invalid node or token, or with a token of p = 0; nullopt if it has none.
std::optional<std::string> support_fault(const StepOutput& step, const DraftTree& tree,
                                         const DoubleContexts& conditionals);
/// Returns the defect of a step whose number of accepted tokens differs from its emitted tokens or exceeds the
/// drafts; nullopt if it has none.
std::optional<std::string> count_fault(const StepOutput& step, const DraftTree& tree);

/// Returns the accepted tokens and the extra token, as "[0 2] then 1".
std::string step_text(const StepOutput& step, const DraftTree& tree);

// Consecutive iterations on seeded random bits, each from the context and carry that the previous one returned.
// The same calls for positions are in properties/scripted/scripted_trials.hpp.

/// One iteration of a run: its start and its result.
struct Iteration {
  DraftTree tree;
  VerifierState<double> carry{};
  ScriptedStep played{};
};

/// Returns a new plan of the verifier.
inline PathDeciderPtr<Rows<double>, Scripted> plan_on(const PathInstanceAnalysis& at,
                                                      const DoubleContexts& conditionals) {
  return at.verifier().scripted_on(conditionals, at.instance().shape);
}

/// Runs the iteration again, on other random bits.
inline ScriptedStep run_scripted(PathPlayable& plan, const Iteration& one, Words& words) {
  return run_scripted(plan, one.tree, one.carry, words);
}

/// Calls `visit(t, iteration, drafter's bits, verifier's bits)` for `count` iterations of `plan` on the random
/// bits of trials 0 .. count - 1. Returns the first defect that `visit` returns. Also ends after a step with a
/// support_fault().
template <class Visit>
std::optional<std::string> first_fault(const PathInstanceAnalysis& at, const DoubleContexts& conditionals,
                                       PathPlayable& plan, std::uint64_t count, Visit visit) {
  const auto process = at.verifier().process_on(conditionals);
  int context = 0;
  VerifierState<double> carry;
  for (std::uint64_t t = 0; t < count; ++t) {
    TrialWords drafting(1, t, Philox::Role::draft), verifying(1, t, Philox::Role::verify);
    Iteration one{drafted(at.drafter(), conditionals, at.instance().shape, drafting, context), carry};
    one.played = run_scripted(plan, one, verifying);
    if (std::optional<std::string> fault = visit(t, one, drafting, verifying)) return fault;
    const StepOutput& step = one.played.output;
    if (support_fault(step, one.tree, conditionals)) return std::nullopt;
    carry = process ? process->after(one.tree, carry, step) : VerifierState<double>{};
    context = conditionals.next(one.tree.context(step.node), step.extra.token);
  }
  return std::nullopt;
}

inline std::optional<std::string> fault_of(const ScriptedStep& played, const Iteration& one,
                                           const DoubleContexts& conditionals) {
  return support_fault(played.output, one.tree, conditionals);
}
inline bool same(const ScriptedStep& a, const ScriptedStep& b) {
  return a.output.node == b.output.node && same(a.output.extra, b.output.extra);
}
inline std::string text_of(const ScriptedStep& played, const Iteration& one) {
  return step_text(played.output, one.tree);
}
inline std::string place_of(std::uint64_t t, const Iteration&) { return "iteration " + std::to_string(t); }

}  // namespace draftproof
