// The ladder of the mean proposal, for drafts from different proposals. It selects one of the drafts, by groups and
// levels of the ratio of p to the mean of the proposals or by one of a few orders of the bins, and then verifies the
// selected draft as a single draft.
//
//   r, bins, p_I    plan.ladder      mean proposal, bins by p / r, distribution of the selected draft
//                                    (ladder/mean_ladder.hpp)
//   w               orders           mixture with orders of the bins (ladder/order_mixture.hpp)
//
// Cost: O(V log V) and the slopes of K drafts in at most 2 n groups, n the number of bins, once per (p, q, K); O(K) per
// trial, and a pass for the residual. On fresh rows bins are buckets of p / r, and a decision takes some 3 K passes.
// Acceptance: the optimum where all proposals agree, below it where they differ: docs/ladder.md.
// Source: derived here (docs/ladder.md, "Different proposals"), for the setting of Khisti et al., arXiv:2410.18234.
// Correctness: p_I is the distribution of the selected draft for any levels, and verifying one draft of known
// distribution is lossless.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/ladder/mean_ladder.hpp>
#include <draftproof/verifiers/transport/two_step.hpp>

namespace draftproof::verifiers {

struct LadderIndependent {
  static constexpr Info info{
      .name = "ladder_independent",
      .summary = "select among drafts of different proposals by levels between bins of p over the mean proposal",
      .source = "derived here, docs/ladder.md; the setting of Khisti et al., arXiv:2410.18234",
      .drafts = DraftSamplings{"independent"},
      .claims = {.accepts_equal_distributions = true, .one_draft_is_single_draft = true},
      .unsupported = {.device = "its plan keeps K slopes a group on the host"},
      .ranks_tokens = true,
      .searches_plan = true};

  int orders = 8;  ///< largest number of orders in the mixture; 0 means that only the ladder selects

  template <class L>
  struct Plan {
    std::shared_ptr<const MeanLadder<L>> ladder;
    SelectedDraft<L> selected;
  };

  template <Distributions L>
  Plan<L> prepare(const L& distributions, int drafts) const {
    auto ladder = std::make_shared<const MeanLadder<L>>(distributions, drafts, drafts, orders);
    std::vector<typename L::Scalar> distribution;
    for (Token x = 0; x < distributions.vocabulary(); ++x)
      distribution.push_back(ladder->distribution(distributions, x));
    return {ladder, SelectedDraft<L>(distributions, std::move(distribution), drafts)};
  }

  template <Position P, RandomSource R>
  Verdict verify(const P& at, const Plan<typename P::Underlying>& plan, R& random) const {
    return plan.selected.verify(at, at.draft(plan.ladder->select(at, random)), random);
  }
};

}  // namespace draftproof::verifiers
