// Mutants of grammar components: masks of wrong rows, and states that do not follow the emitted text.
//
// The symbols are defined in sim/components/grammar_view.hpp.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/grammar_view.hpp>

namespace draftproof::mutants::components::grammar {

// Mutant: masks the row after the last draft by the state before that draft.
//
// Source: derived here, after masks that are computed before the last draft is known.
// Hidden: while both states allow the same tokens, and where no path is accepted to its end.
struct BonusMaskBeforeLastDraft : GrammarMasks {
  static constexpr ComponentInfo info{.name = "bonus_mask_before_last_draft",
                                      .summary = "the row after the last draft has the mask of the row before it",
                                      .source = "derived here, after structured output of engines"};

  int mask_state(const GrammarStep& step, int u) const {
    return step.state_after(u > 0 && step.leaf(u) ? step.parent_of(u) : u);
  }
};

// Mutant: does not mask the row after the last draft.
//
// Source: vllm-project/vllm PR 44292, where padded drafts cause this bug.
// Hidden: where the state after the drafts allows all tokens, and where no path is accepted to its end.
struct BonusWithoutMask : GrammarMasks {
  static constexpr ComponentInfo info{.name = "bonus_without_mask",
                                      .summary = "the row after the last draft has no mask",
                                      .source = "vllm-project/vllm PR 44292"};

  int mask_state(const GrammarStep& step, int u) const {
    return step.leaf(u) ? TokenAutomaton::forbidden : step.state_after(u);
  }
};

// Mutant: masks all rows of a step by the state before the step.
//
// Source: vllm-project/vllm PR 44297, where one decision about the mask is used for all drafts of a step.
// Hidden: without drafts, and while the states allow the same tokens.
struct MaskOfStepStart : GrammarMasks {
  static constexpr ComponentInfo info{.name = "mask_of_step_start",
                                      .summary = "all rows of a step are masked by the state before it",
                                      .source = "vllm-project/vllm PR 44297"};

  int mask_state(const GrammarStep& step, int) const { return step.state; }
};

// Mutant: advances the automaton over all drafts of the step, and does not roll it back after a rejection.
//
// Source: vllm-project/vllm PR 12388, whose review discusses how many states to roll back.
// Hidden: while all drafts are accepted, and within one step.
struct StateAfterAllDrafts : GrammarMasks {
  static constexpr ComponentInfo info{.name = "state_after_all_drafts",
                                      .summary = "rejected drafts stay in the state of the automaton",
                                      .source = "vllm-project/vllm PR 12388, review"};

  int next_state(const GrammarStep& step, int, Token last) const {
    return step.automaton->after(step.state_after(step.size() - 1), last);
  }
};

// Mutant: advances the automaton only by the token that the verifier adds, and not by the accepted drafts before it.
//
// Source: InternLM/lmdeploy#4551.
// Hidden: while no draft is accepted, and within one step.
struct StateWithoutAcceptedDrafts : GrammarMasks {
  static constexpr ComponentInfo info{.name = "state_without_accepted_drafts",
                                      .summary = "the automaton reads only the token that the verifier adds",
                                      .source = "InternLM/lmdeploy#4551"};

  int next_state(const GrammarStep& step, int, Token last) const { return step.automaton->after(step.state, last); }
};

// Mutant: removes forbidden drafts before verification, although q has no mask. A draft that is not removed has the
// distribution q restricted to the allowed tokens and normalised, but the ratio test uses the whole q.
//
// Source: vllm-project/vllm PR 14702 trims drafts by the grammar, which is exact for drafts that have probability 1.
// Hidden: while the drafter is masked too, and with sample-and-match as verifier.
struct ForbiddenDraftsRemoved : GrammarMasks {
  static constexpr ComponentInfo info{.name = "forbidden_drafts_removed",
                                      .summary = "drafts end before the first forbidden one, and q has no mask",
                                      .source = "vllm-project/vllm PR 14702"};

  bool verified(const GrammarStep& step, int u) const { return step.state_after(u) != TokenAutomaton::forbidden; }
};

// Mutant: keeps one state for all nodes of a tree and advances it in draw order, so that the mask of a node depends on
// the siblings that were drawn before.
//
// Source: derived here, after matchers that are advanced along a list of nodes; vllm-project/vllm PR 41897 follows
// the tree. Hidden: on chains, and while siblings lead to equal masks.
struct SiblingsShareState : GrammarMasks {
  static constexpr ComponentInfo info{.name = "siblings_share_state",
                                      .summary = "the state at a node has also read the siblings drawn before it",
                                      .source = "derived here, after structured output of engines"};

  int mask_state(const GrammarStep& step, int u) const {
    int state = step.state;
    for (int v = 1; v <= u; ++v) {
      const int next = step.automaton->after(state, step.token_of(v));
      if (next != TokenAutomaton::forbidden) state = next;
    }
    return state;
  }
};

}  // namespace draftproof::mutants::components::grammar
