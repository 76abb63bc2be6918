// Consecutive iterations on seeded words, each from the context and carry that the previous one left. Properties of
// single draws use them for schemes of paths.
#pragma once

#include <memory>
#include <vector>

#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/paths/path_scripted.hpp>

namespace draftproof {

/// Iteration t of a run: its start and its result.
struct Iteration {
  DraftTree tree;
  VerifierState<double> carry;
  ScriptedStep played;
};

/// Calls `visit(t, iteration, drafting words, verifying words)` for `count` iterations of `decider` on the words of
/// trials 0 .. count - 1. Ends after a faulty step.
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
