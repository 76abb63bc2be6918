// Grammar components: masks of the target rows of a step, and the state of the automaton after the step.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/grammar_view.hpp>

namespace draftproof::components::grammar {

// Each row is masked by the state after the tokens before it, and the next step starts after the tokens that were
// emitted.
//
// Cost: one transition of the automaton for each token of a path.
// Correctness: this is the definition in sim/components/grammar_view.hpp.
// Source: ollama/ollama PR 18105 masks unconstrained drafts in this way.
struct MaskByPrefix : GrammarMasks {
  static constexpr ComponentInfo info{.name = "mask_by_prefix",
                                      .summary = "each row is masked by the state after its own prefix",
                                      .source = "ollama/ollama PR 18105"};
};

// Verifies the drafts up to and including the first forbidden draft, and leaves out the drafts after it. This is
// correct, because p gives the forbidden draft probability 0: the verifier rejects it, and never reaches the drafts
// after it.
//
// The cost and the argument for correctness are the same as for mask_by_prefix.
// Source: derived here; forbidden_drafts_removed is wrong because it removes the forbidden draft too.
struct DraftsEndAfterForbidden : GrammarMasks {
  static constexpr ComponentInfo info{
      .name = "drafts_end_after_forbidden",
      .summary = "the drafts after a forbidden draft are not verified, the forbidden draft is",
      .source = "derived here"};

  bool verified(const GrammarStep& step, int u) const {
    return step.parent_of(u) == 0 || step.state_after(step.parent_of(u)) != TokenAutomaton::forbidden;
  }
};

}  // namespace draftproof::components::grammar
