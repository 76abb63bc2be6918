// A tournament of drafts from different proposals: a two-draft selection chooses between the winner so far and the
// next draft, and the last winner is verified as a single draft.
//
//   L_k    rounds[k].distribution   distribution of the winner after draft k; L_0 = q_0
//          rounds[k].select         selection between the winner and draft k + 1 (transport/alphabet_plan.hpp)
//   p_I    plan.selected.of(x)      L_(K-1)
//
// A round that would accept no more than its winner alone is omitted, so more drafts never accept less.
// Cost: K - 1 plans of two drafts once per (p, q, K), each a sort, its groups and a flow over at most 820 pairs;
// K - 1 selections and one flip per trial.
// Acceptance: sum min(L, p). With at most 40 tokens each round is an optimal flow: the optimum at K = 2, and
// sometimes below it for larger K; it depends on which optimal flow each round finds. At any V a round is a ladder of
// the mean of L and the next proposal, with a flow among the 40 likeliest tokens.
// Source: Khisti et al., arXiv:2410.18234, selection for more than two drafts; a reconstruction: the rounds at large
// V are derived here, and losslessness is proved here by enumeration.
// Correctness: each L_k is the distribution of its round's selection from a winner of distribution L_(k-1) and a
// draft independent of it.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/transport/alphabet_plan.hpp>

namespace draftproof::verifiers {

struct Tournament {
  static constexpr Info info{
      .name = "tournament",
      .summary = "select between the draft chosen so far and the next one, by a two-draft selection",
      .source = "Khisti et al., arXiv:2410.18234, sequential selection; reconstruction",
      .drafts = DraftSamplings{"independent"},
      .claims = {.accepts_equal_distributions = true,
                 .one_draft_is_single_draft = true,
                 .more_drafts_never_hurt = true},
      .unsupported = {.fresh = "K - 1 plans with copies of the rows, which pay only if many trials use them",
                      .device = "the plan is made on the host"}};

  int inside = 40;  ///< largest number of tokens whose pairs a flow decides

  /// The two distributions of a round: the distribution of the winner so far, and the next proposal.
  template <class Number>
  struct RoundDistributions {
    using Scalar = Number;
    const std::vector<Scalar>&p, &winner, &next;

    int vocabulary() const { return static_cast<int>(p.size()); }
    Scalar zero() const { return Scalar{0}; }
    const Scalar& target(Token x) const { return p[static_cast<std::size_t>(x)]; }
    const Scalar& proposal(Token x, int k) const { return (k == 0 ? winner : next)[static_cast<std::size_t>(x)]; }
  };
  /// The winner and the next draft.
  struct Pair {
    Token tokens[2];

    int drafts() const { return 2; }
    Token draft(int k) const { return tokens[k]; }
    const Pair& distributions() const { return *this; }
  };

  template <class L>
  struct Plan {
    using Scalar = typename L::Scalar;
    std::shared_ptr<const std::vector<std::optional<AlphabetPlan<RoundDistributions<Scalar>>>>> rounds;
    SelectedDraft<L> selected;
  };

  template <Distributions L>
  Plan<L> prepare(const L& distributions, int drafts) const {
    using Scalar = typename L::Scalar;
    std::vector<Scalar> target, winner, next;
    for (Token x = 0; x < distributions.vocabulary(); ++x) {
      target.push_back(distributions.target(x));
      winner.push_back(distributions.proposal(x, 0));
    }
    const auto accepted = [&target](const std::vector<Scalar>& distribution) {
      Scalar sum{0};
      for (std::size_t x = 0; x < distribution.size(); ++x) sum += std::min<Scalar>(distribution[x], target[x]);
      return sum;
    };
    std::vector<std::optional<AlphabetPlan<RoundDistributions<Scalar>>>> rounds;
    for (int k = 1; k < drafts; ++k) {
      next.clear();
      for (Token x = 0; x < distributions.vocabulary(); ++x) next.push_back(distributions.proposal(x, k));
      auto& round =
          rounds.emplace_back(std::in_place, RoundDistributions<Scalar>{target, winner, next}, 2, 2, inside);
      if (accepted(round->distribution) > accepted(winner))
        winner = round->distribution;
      else
        round.reset();
    }
    return {std::make_shared<const decltype(rounds)>(std::move(rounds)),
            SelectedDraft<L>(distributions, std::move(winner), drafts)};
  }

  template <Position P, RandomSource R>
  Verdict verify(const P& at, const Plan<typename P::Underlying>& plan, R& random) const {
    Token winner = at.draft(0);
    for (int k = 1; k < at.drafts(); ++k)
      if (const auto& round = (*plan.rounds)[static_cast<std::size_t>(k) - 1])
        winner = round->select(Pair{{winner, at.draft(k)}}, random);
    return plan.selected.verify(at, winner, random);
  }
};

}  // namespace draftproof::verifiers
