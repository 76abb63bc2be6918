// Selection policies that divide a budget among the requests of a batch. The symbols are defined in
// sim/components/selection_view.hpp.
#pragma once

#include <algorithm>
#include <numeric>

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/selection_view.hpp>

namespace draftproof::components::selection {

// Keeps the drafts with the highest survival. This is exact, although the policy uses the confidences of the current
// step.
//
// Correctness: survival does not grow along a path, and ties go to the earlier position, so the ranking can be built
// draft by draft, always from drafts whose parents are in the ranking. Whether a draft is kept is then a function of
// confidences that are known before it is drawn.
// Source: DSpark, arXiv:2607.05147, algorithm 1; the mutant is topk_open_ties.
struct SurvivalRanking : SelectionPolicy {
  static constexpr ComponentInfo info{
      .name = "survival_ranking",
      .summary =
          "the budget goes to the drafts with the highest survival probability, ties by position, then request",
      .source = "DSpark, arXiv:2607.05147, algorithm 1"};

  template <class S, class R>
  KeptDrafts keep(const SelectionView<S>& view, R&) const {
    const auto ranking = drafts_by_survival(view);
    return first_drafts(view, ranking, static_cast<std::size_t>(view.budget));
  }
};

// Adds drafts in the order of their survival until the predicted throughput falls.
//
// Correctness: the argument for survival_ranking applies, and whether to stop depends on the survival of the next
// draft, which is known before that draft is drawn.
// Source: DSpark, arXiv:2607.05147, section 5.2; the mutant is throughput_argmax.
struct ThroughputEarlyStop : SelectionPolicy {
  static constexpr ComponentInfo info{
      .name = "throughput_early_stop",
      .summary = "drafts are added in order of survival probability until the predicted throughput falls",
      .source = "DSpark, arXiv:2607.05147, section 5.2"};

  template <class S, class R>
  KeptDrafts keep(const SelectionView<S>& view, R&) const {
    const auto ranking = drafts_by_survival(view);
    const auto tokens = expected_tokens(view, ranking);
    std::size_t count = 0;
    while (count + 1 < tokens.size() && faster(view, tokens, count, count + 1, true)) ++count;
    return first_drafts(view, ranking, count);
  }
};

// Serves the requests in the order of their confidence one step ago until the budget is spent.
//
// Correctness: confidences of the previous step are functions of the text so far and of earlier drafts. With the
// confidences of the current step, as in the mutant lag_removed, the policy would not be exact.
// Source: derived here, after asynchronous schedulers of engines.
struct LaggedBudget : SelectionPolicy {
  static constexpr ComponentInfo info{.name = "lagged_budget",
                                      .summary = "requests share the budget by their confidences one step ago",
                                      .source = "derived here, after asynchronous schedulers of engines"};
  static constexpr bool reads_past = true;
  static constexpr bool reads_row = false;

  template <class S, class R>
  KeptDrafts keep(const SelectionView<S>& view, R&) const {
    const auto past = [](const auto& request, int) {
      return std::accumulate(request.past_confidence.begin(), request.past_confidence.end(), S(0));
    };
    auto drafts = drafts_of(view, past);
    std::stable_sort(drafts.begin(), drafts.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
    return first_drafts(view, drafts, static_cast<std::size_t>(view.budget));
  }
};

}  // namespace draftproof::components::selection
