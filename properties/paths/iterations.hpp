// A few iterations one after the other on seeded words, each from where the one before ended and with what it
// carries: what properties of single draws look at in schemes of paths.
#pragma once

#include <memory>
#include <vector>

#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/paths/path_scripted.hpp>

namespace draftproof {

/// Iteration t of a run: what it started from and what it did.
struct Iteration {
  DraftTree tree;
  VerifierState<double> carry;
  ScriptedStep played;
};

/// Calls `visit(t, iteration, drafting words, verifying words)` for `count` iterations of `decider`; words are those
/// of trials 0 .. count - 1. Stops where a step leads nowhere.
template <class Visit>
void run_iterations(const PathInstanceAnalysis& at, const DoubleContexts& conditionals, PathPlayable& decider,
                    std::uint64_t count, Visit visit) {
  const auto process = at.verifier().process_on(conditionals);
  int context = 0;
  VerifierState<double> carry;
  for (std::uint64_t t = 0; t < count; ++t) {
    TrialWords drafting(1, t, Philox::Role::draft), verifying(1, t, Philox::Role::verify);
    Iteration one{drafted(at.drafter(), conditionals, at.instance().shape, drafting, context), carry, {}};
    one.played = run_scripted(decider, one.tree, carry, verifying);
    visit(t, one, drafting, verifying);
    const StepOutput& step = one.played.output;
    if (support_fault(step, one.tree, conditionals)) return;
    carry = process ? process->after(one.tree, carry, step) : VerifierState<double>{};
    context = conditionals.next(one.tree.context(step.node), step.extra.token);
  }
}

}  // namespace draftproof
