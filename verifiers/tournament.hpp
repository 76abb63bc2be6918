// A tournament of drafts from different proposals: an optimal two-draft selection chooses between the winner so far
// and the next draft, and the last winner is verified as a single draft.
//
//   L_k    rounds[k].served      law of the winner after draft k, by rank; L_1 = q_1
//   beta   rounds[k].share       shares of the pair of winner and draft, by ranks of tokens
//   p_I    plan.selected.of(x)   L_K
//
// Cost: K - 1 flows over V^2 pairs once per (p, q, K); K - 1 draws and one flip a trial.
// Acceptance: sum min(L_K, p), the optimum at K = 2 and sometimes below it for larger K; it depends on which optimal
// flow each round finds.
// Source: Khisti et al., arXiv:2410.18234, selection for more than two drafts; a reconstruction: losslessness is
// proved here by exploration.
// Correctness: each L_k is summed from the same shares that select the winner, and L_K is the law of a single draft.
#pragma once

#include <draftproof/verifiers/transport/alphabet_plan.hpp>
#include <draftproof/verifiers/transport/two_step.hpp>

namespace draftproof::verifiers {

struct Tournament {
  static constexpr Info info{.name = "tournament",
                             .summary = "the winner so far meets the next draft in an optimal two-draft selection",
                             .source = "Khisti et al., arXiv:2410.18234, sequential selection; reconstruction",
                             .drafts = DraftLaws{"independent"},
                             .claims = {.accepts_equal_laws = true, .one_draft_is_single_draft = true},
                             .unsupported = {.simulate = "the plan holds V^2 pairs of tokens a draft",
                                             .fresh = "the plan holds V^2 pairs of tokens a draft",
                                             .device = "the plan holds V^2 pairs of tokens a draft"}};

  template <class Scalar>
  struct Rounds {
    std::vector<Token> tokens;  ///< tokens by rank
    std::vector<int> rank;      ///< rank by token; -1 if it cannot be drafted
    std::vector<TransportPlan<Scalar>> rounds;
  };
  template <class L>
  struct Plan {
    std::shared_ptr<const Rounds<typename L::Scalar>> bracket;
    SelectedDraft<L> selected;
  };

  template <Laws L>
  Plan<L> prepare(const L& laws, int drafts) const {
    using Scalar = typename L::Scalar;
    Rounds<Scalar> bracket{draftable_tokens(laws, drafts, size(laws)), std::vector<int>(size(laws), -1), {}};
    std::vector<Scalar> target, winner;
    for (const Token x : bracket.tokens) {
      bracket.rank[static_cast<std::size_t>(x)] = static_cast<int>(target.size());
      target.push_back(laws.target(x));
      winner.push_back(laws.proposal(x, 0));
    }
    for (int k = 1; k < drafts; ++k) {
      std::vector<Scalar> next;
      for (const Token x : bracket.tokens) next.push_back(laws.proposal(x, k));
      auto& round = bracket.rounds.emplace_back(
          plan_transport<Scalar>(independent_sets<Scalar>({winner, std::move(next)}), target));
      round.spend_spare();
      winner = round.served;
    }
    std::vector<Scalar> law(size(laws), Scalar{0});
    for (std::size_t r = 0; r < winner.size(); ++r) law[static_cast<std::size_t>(bracket.tokens[r])] = winner[r];
    return {std::make_shared<const Rounds<Scalar>>(std::move(bracket)), SelectedDraft<L>(laws, std::move(law))};
  }

  template <Position P, RandomSource R>
  Verdict verify(const P& at, const Plan<typename P::Underlying>& plan, R& random) const {
    const auto& bracket = *plan.bracket;
    Token winner = bracket.rank[static_cast<std::size_t>(at.draft(0))];
    for (int k = 1; k < at.drafts(); ++k) {
      const auto& round = bracket.rounds[static_cast<std::size_t>(k) - 1];
      const Token pair[2] = {winner, bracket.rank[static_cast<std::size_t>(at.draft(k))]};
      const auto set = round.drafts.of(pair, 2);
      if (set == round.drafts.size()) return {};  // not drafts of this law: reported as an impossible branch
      winner = round.drafts.sets[set][round.pick(set, random)];
    }
    return plan.selected.verify(at, bracket.tokens[static_cast<std::size_t>(winner)], random);
  }

 private:
  template <class L>
  static std::size_t size(const L& laws) {
    return static_cast<std::size_t>(laws.vocabulary());
  }
};

}  // namespace draftproof::verifiers
