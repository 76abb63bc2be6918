// Selection of one of K independent drafts: by an optimal flow if all drafts are among a few tokens, otherwise by the
// ladder of the mean proposal. The distribution of the selected draft is known for any V.
//
//   W      tokens            the n most probable tokens of p that can be drafted; rank[x] in W, -1 outside
//   b      base              the ladder's distribution minus its part within W
//   beta   sets              shares of the sets of ranks that can be drafted inside
//   p_I    distribution[x]   b + the shares of x
//
// Cost: the ladder (verifiers/ladder/mean_ladder.hpp), and a flow over the sets of at most K of n tokens.
// Acceptance: at least the ladder's, because the ladder inside W is one way to divide the probability of the sets among
// their tokens, and the flow is the best way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include <draftproof/sim/sampling/without_replacement.hpp>
#include <draftproof/verifiers/ladder/mean_ladder.hpp>
#include <draftproof/verifiers/transport/transport_plan.hpp>
#include <draftproof/verifiers/transport/two_step.hpp>

namespace draftproof {

/// The first `most` tokens in an order that depends on their probabilities alone, by p descending, then by the
/// proposals. Ids order only tokens with equal probabilities, so relabelling changes nothing. Tokens that no proposal
/// can draft are excluded.
template <class L>
std::vector<Token> draftable_tokens(const L& distributions, int drafts, std::size_t most) {
  const auto before = [&](Token a, Token b) {
    if (distributions.target(a) != distributions.target(b)) return distributions.target(a) > distributions.target(b);
    for (int k = 0; k < drafts; ++k)
      if (distributions.proposal(a, k) != distributions.proposal(b, k))
        return distributions.proposal(a, k) > distributions.proposal(b, k);
    return a < b;
  };
  const auto draftable = [&](Token x) {
    for (int k = 0; k < drafts; ++k)
      if (distributions.proposal(x, k) > distributions.zero()) return true;
    return false;
  };
  const auto key = [&distributions](Token x) -> typename L::Scalar { return distributions.target(x); };
  return first_tokens(distributions.vocabulary(), most, key, before, draftable);
}

/// Returns the largest number of tokens, at most `most`, with at most 1024 sets of 1 to K tokens, so that a flow
/// takes milliseconds: 40 (if `most` is 40) at K = 2, 12 at K = 4 and 10 at K = 8.
constexpr int affordable_tokens(int drafts, int most) {
  int n = 0;
  for (; n < most; ++n) {
    int sets = 0, chosen = 1;  // chosen: C(n + 1, j)
    for (int j = 1; j <= drafts && j <= n + 1 && sets <= 1024; ++j) {
      chosen = chosen * (n + 2 - j) / j;
      sets += chosen;
    }
    if (sets > 1024) break;
  }
  return n;
}

template <class L>
class AlphabetPlan {
 public:
  using Scalar = typename L::Scalar;

  /// `rows`: the number of different proposals, K or 1. W has at most `most` tokens.
  AlphabetPlan(const L& distributions, int drafts, int rows, int most)
      : ladder_(distributions, drafts, rows, MeanLadder<L>::most_orders),
        tokens_{draftable_tokens(distributions, rows, static_cast<std::size_t>(affordable_tokens(drafts, most)))},
        rank_(static_cast<std::size_t>(distributions.vocabulary()), -1) {
    for (Token x = 0; x < distributions.vocabulary(); ++x)
      distribution.push_back(ladder_.distribution(distributions, x));
    if (tokens_.empty()) return;
    const auto within = ladder_.within(distributions, tokens_);
    std::vector<std::vector<Scalar>> inside(static_cast<std::size_t>(drafts));
    std::vector<Scalar> room;
    for (std::size_t r = 0; r < tokens_.size(); ++r) {
      const Token x = tokens_[r];
      const auto i = static_cast<std::size_t>(x);
      rank_[i] = static_cast<int>(r);
      for (int k = 0; k < drafts; ++k)
        inside[static_cast<std::size_t>(k)].push_back(distributions.proposal(x, std::min(k, rows - 1)));
      distribution[i] = distribution[i] > within[r] ? Scalar(distribution[i] - within[r]) : Scalar{0};
      room.push_back(distributions.target(x) > distribution[i] ? Scalar(distributions.target(x) - distribution[i])
                                                               : Scalar{0});
    }
    sets_ = plan_transport<Scalar>(independent_sets(inside), room);
    sets_.spend_spare();
    for (std::size_t r = 0; r < tokens_.size(); ++r)
      distribution[static_cast<std::size_t>(tokens_[r])] += sets_.served[r];
  }

  /// The token selected from the drafts of position `at`.
  template <class P, class R>
  Token select(const P& at, R& random) const {
    Token ranks[max_drafts];
    int inside = 0;
    while (inside < at.drafts() && (ranks[inside] = rank_[static_cast<std::size_t>(at.draft(inside))]) >= 0) ++inside;
    if (inside == at.drafts())
      if (const auto set = sets_.drafts.of(ranks, inside); set < sets_.drafts.size())
        return tokens_[static_cast<std::size_t>(sets_.drafts.sets[set][sets_.pick(set, random)])];
    return at.draft(ladder_.select(at, random));
  }

  std::vector<Scalar> distribution;  ///< p_I by token

 private:
  MeanLadder<L> ladder_;
  std::vector<Token> tokens_;
  std::vector<int> rank_;
  TransportPlan<Scalar> sets_;
};

/// Two-step verification with this selection. Copies share the plan.
template <class L>
class TwoStepByAlphabet {
 public:
  TwoStepByAlphabet(const L& distributions, int drafts, int rows, int most)
      : alphabet_{std::make_shared<const AlphabetPlan<L>>(distributions, drafts, rows, most)},
        selected_(distributions, alphabet_->distribution, rows) {}

  template <class P, class R>
  Verdict verify(const P& at, R& random) const {
    return selected_.verify(at, alphabet_->select(at, random), random);
  }

 private:
  std::shared_ptr<const AlphabetPlan<L>> alphabet_;
  SelectedDraft<L> selected_;
};

}  // namespace draftproof
