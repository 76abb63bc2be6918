// Mutants of selection policies that divide a budget among the requests of a batch: the number of drafts depends on
// confidences that are known only after those drafts. No mutant here shows with sample-and-match as verifier.
#pragma once

#include <algorithm>

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/selection_view.hpp>

namespace draftproof::mutants::components::selection {

// Mutant: takes the number of drafts with the highest predicted throughput of all numbers. A number beyond a minimum of
// the throughput wins if the later confidences are high, and later confidences depend on the earlier drafts.
//
// The symbols are defined in sim/components/selection_view.hpp.
// Source: DSpark, arXiv:2607.05147, section 5.2, without its early stop; the right policy is throughput_early_stop.
// Hidden: while the throughput has one maximum, as for a cost that grows evenly.
struct ThroughputArgmax : SelectionPolicy {
  static constexpr ComponentInfo info{
      .name = "throughput_argmax",
      .summary = "the number of drafts is the one with the highest predicted throughput of all numbers",
      .source = "DSpark, arXiv:2607.05147, section 5.2, without its early stop"};

  template <class S, class R>
  KeptDrafts keep(const SelectionView<S>& view, R&) const {
    const auto ranking = drafts_by_survival(view);
    const auto tokens = expected_tokens(view, ranking);
    std::size_t best = 0;
    for (std::size_t count = 1; count < tokens.size(); ++count)
      if (faster(view, tokens, best, count, false)) best = count;
    return first_drafts(view, ranking, best);
  }
};

// Mutant: takes the drafts of highest survival with a top-k that leaves the order of ties open, and verifies as many
// drafts of a request as the top-k took of it. Where confidences saturate, a draft ties with the draft after it. The
// later draft, whose survival follows from the earlier token, is then counted in place of the earlier one. Ties are
// in the order of positions or in its reverse, with equal probability.
//
// The symbols are defined in sim/components/selection_view.hpp.
// Source: vllm-project/vllm#47808, read as a top-k without an order of ties; the right policy is survival_ranking.
// Hidden: while no two drafts of a request tie for the last place in the budget.
struct TopkOpenTies : SelectionPolicy {
  static constexpr ComponentInfo info{
      .name = "topk_open_ties",
      .summary = "the budget goes to the highest survival probability, ties in any order",
      .source = "vllm-project/vllm#47808"};
  static constexpr bool trees = false;

  template <class S, class R>
  KeptDrafts keep(const SelectionView<S>& view, R& random) const {
    auto drafts = drafts_by_survival(view);
    if (random.flip(1, 2)) std::reverse(drafts.begin(), drafts.end());
    std::stable_sort(drafts.begin(), drafts.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
    std::vector<int> length(view.requests.size());
    for (std::size_t i = 0; i < std::min(drafts.size(), static_cast<std::size_t>(view.budget)); ++i)
      ++length[static_cast<std::size_t>(drafts[i].request)];
    std::erase_if(drafts,
                  [&](const auto& draft) { return draft.node > length[static_cast<std::size_t>(draft.request)]; });
    return first_drafts(view, drafts, drafts.size());
  }
};

// Mutant: the policy lagged_budget after a refactoring that made the planner synchronous. Requests are served in the
// order of the confidences of this step, not of the previous step. Confidences of this step depend on the drafts that
// are to be chosen.
//
// The symbols are defined in sim/components/selection_view.hpp.
// Source: derived here, after asynchronous schedulers of engines; the right policy is lagged_budget.
// Hidden: for one request, and while the budget takes all drafts.
struct LagRemoved : SelectionPolicy {
  static constexpr ComponentInfo info{.name = "lag_removed",
                                      .summary = "requests share the budget by their confidences of the same step",
                                      .source = "derived here, after asynchronous schedulers of engines"};

  template <class S, class R>
  KeptDrafts keep(const SelectionView<S>& view, R&) const {
    const auto now = [](const auto& request, int) {
      S sum(0);
      for (int u = 1; u < request.size(); ++u) sum = sum + request.confidence_after(u);
      return sum;
    };
    auto drafts = drafts_of(view, now);
    std::stable_sort(drafts.begin(), drafts.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
    return first_drafts(view, drafts, static_cast<std::size_t>(view.budget));
  }
};

}  // namespace draftproof::mutants::components::selection
