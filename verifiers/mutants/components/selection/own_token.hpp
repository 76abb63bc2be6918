// Mutants of selection policies: whether a draft is kept depends on its token. The verifier tests the draft against q,
// but the kept tokens no longer have distribution q. No mutant here shows with sample-and-match as verifier.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/selection_view.hpp>

namespace draftproof::mutants::components::selection {

// Mutant: compares the confidence of the drawn token with a threshold and drops the token if the confidence is below
// the threshold.
//
// The symbols are defined in sim/components/selection_view.hpp.
// Source: vllm-project/vllm-ascend PR 13819; DSpark, arXiv:2607.05147, appendix A.
// Hidden: while the confidence does not depend on the token, and with sample-and-match as verifier.
struct ChosenTokenConfidence : SelectionPolicy {
  static constexpr ComponentInfo info{.name = "chosen_token_confidence",
                                      .summary = "drafts end before a token whose own confidence is below one half",
                                      .source = "vllm-project/vllm-ascend PR 13819"};

  template <class S>
  bool keeps(const DraftedRequest<S>& request, int u) const {
    return !(S(2) * request.confidence_after(u) < S(1));
  }
};

// Mutant: drops a drawn token whose draft probability is low.
//
// The symbols are defined in sim/components/selection_view.hpp.
// Source: derived here, after engines' thresholds on draft probabilities; the right policy is
// stop_after_low_probability.
// Hidden: where all tokens of a row are on one side of the threshold.
struct LowProbabilityStop : SelectionPolicy {
  static constexpr ComponentInfo info{.name = "low_probability_stop",
                                      .summary = "drafts end before a token with q(x) below one half",
                                      .source = "derived here, after thresholds of engines"};

  template <class S>
  bool keeps(const DraftedRequest<S>& request, int u) const {
    return !(S(2) * request.drawn(u) < S(1));
  }
};

// Mutant: ends drafting where the probability of the whole drawn path falls below a threshold, and drops the token at
// which this happens.
//
// The symbols are defined in sim/components/selection_view.hpp.
// Source: derived here, after early exits of draft models.
// Hidden: where all tokens of a row are on one side of the threshold.
struct EarlyExit : SelectionPolicy {
  static constexpr ComponentInfo info{.name = "early_exit",
                                      .summary = "drafts end before q of the whole path falls below one third",
                                      .source = "derived here, after early exits of draft models"};

  template <class S>
  bool keeps(const DraftedRequest<S>& request, int u) const {
    return !(S(3) * request.along_path(u, [&](int v) { return request.drawn(v); }) < S(1));
  }
};

// Mutant: keeps the nodes of a drawn tree with the highest score, the product of the draft probabilities of their
// tokens. The rule is right for the fixed trees of temperature 0, whose nodes are not random.
//
// The symbols are defined in sim/components/selection_view.hpp.
// Source: Li et al. 2024 (EAGLE-2), arXiv:2406.16858, reranking, at temperature above 0.
// Hidden: while the budget takes all nodes, and with sample-and-match as verifier.
struct RerankedNodes : SelectionPolicy {
  static constexpr ComponentInfo info{.name = "reranked_nodes",
                                      .summary = "drawn nodes are kept by the draft probability of their own path",
                                      .source = "Li et al. 2024 (EAGLE-2), arXiv:2406.16858, reranking"};

  template <class S, class R>
  KeptDrafts keep(const SelectionView<S>& view, R&) const {
    const auto ranking = ranked_drafts(view, [](const auto& request, int u) {
      return request.along_path(u, [&](int v) { return request.drawn(v); });
    });
    return first_drafts(view, ranking, static_cast<std::size_t>(view.budget));
  }
};

// Mutant: rejects every masked draft and sets its row of q to zero, so that (p - 0)+ = p is emitted. The result
// equals a verification without the masked draft; in a tree the siblings of the masked draft stay.
//
// The symbols are defined in sim/components/selection_view.hpp.
// Source: derived here, after masked drafts of engines; the right policy is illegal_drafts_kept.
// Hidden: while the drafter is masked too.
struct IllegalDraftWithoutRow : SelectionPolicy {
  static constexpr ComponentInfo info{.name = "illegal_draft_without_row",
                                      .summary = "a forbidden draft is rejected by force, with its row of q zeroed",
                                      .source = "derived here, after masked drafts of engines"};

  template <class S>
  bool keeps(const DraftedRequest<S>& request, int u) const {
    return request.allowed(u);
  }
};

// Mutant: trims a chain before the first draft that the grammar forbids. The row of p is masked, but the row of
// q is not. The token in place of the trimmed draft is drawn from p, not from (p - q)+ as after a rejection, although
// accepted drafts already emit min(p, q).
//
// The symbols are defined in sim/components/selection_view.hpp.
// Source: derived here, after structured output of engines; the right policy is illegal_drafts_kept.
// Hidden: while the drafter is masked too.
struct IllegalDraftTrimmed : IllegalDraftWithoutRow {
  static constexpr ComponentInfo info{.name = "illegal_draft_trimmed",
                                      .summary = "a chain ends before a draft that the grammar forbids, q unmasked",
                                      .source = "derived here, after structured output of engines"};
  static constexpr bool trees = false;
};

}  // namespace draftproof::mutants::components::selection
