// Selection of one of K drafts from different proposals: by an optimal flow if all drafts are among a few tokens,
// otherwise one fixed draft. So the law of the selected draft is known for any V.
//
//   W      tokens    the n most probable tokens of p that can be drafted; rank[x] in it, -1 outside
//   b      base      q_c(x) Pr(some other draft is outside W) inside, q_c(x) outside; c is the fixed draft
//   beta   sets      shares of the sets of ranks that can be drafted inside
//   p_I    law[x]    b + the shares of x
//
// Cost: K + 1 passes: one for W, one for the outside mass of each other proposal, one for the law. A flow over the
// sets of at most K of n tokens.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <draftproof/sim/sampling/top_k.hpp>
#include <draftproof/verifiers/transport/transport_plan.hpp>

namespace draftproof {

template <class Scalar>
struct AlphabetPlan {
  std::vector<Token> tokens;
  std::vector<int> rank;
  TransportPlan<Scalar> sets;
  std::vector<Scalar> law;

  /// The token selected from the drafts at `at`; draft `otherwise` if one of them is outside.
  template <class P, class R>
  Token select(const P& at, int otherwise, R& random) const {
    Token ranks[max_drafts];
    for (int k = 0; k < at.drafts(); ++k)
      if ((ranks[k] = rank[static_cast<std::size_t>(at.draft(k))]) < 0) return at.draft(otherwise);
    const auto set = sets.drafts.of(ranks, at.drafts());
    if (set == sets.drafts.size()) return at.draft(otherwise);
    return tokens[static_cast<std::size_t>(sets.drafts.sets[set][sets.pick(set, random)])];
  }
};

/// The first `most` tokens in an order that depends on their probabilities alone, by p descending, then by the
/// proposals. Ids decide between equal tokens only, so relabelling tokens changes nothing. Tokens that no proposal
/// can draft are excluded.
template <class L>
std::vector<Token> draftable_tokens(const L& laws, int drafts, std::size_t most) {
  const auto before = [&](Token a, Token b) {
    if (laws.target(a) != laws.target(b)) return laws.target(a) > laws.target(b);
    for (int k = 0; k < drafts; ++k)
      if (laws.proposal(a, k) != laws.proposal(b, k)) return laws.proposal(a, k) > laws.proposal(b, k);
    return a < b;
  };
  const auto draftable = [&](Token x) {
    for (int k = 0; k < drafts; ++k)
      if (laws.proposal(x, k) > laws.zero()) return true;
    return false;
  };
  const auto key = [&laws](Token x) -> typename L::Scalar { return laws.target(x); };
  return first_tokens(laws.vocabulary(), most, key, before, draftable);
}

/// The plan on at most `tokens` tokens; `otherwise` is the index of the fixed draft.
template <class L>
AlphabetPlan<typename L::Scalar> plan_alphabet(const L& laws, int drafts, int tokens, int otherwise) {
  using Scalar = typename L::Scalar;
  AlphabetPlan<Scalar> plan;
  plan.tokens = draftable_tokens(laws, drafts, static_cast<std::size_t>(std::max(tokens, 0)));
  plan.rank.assign(static_cast<std::size_t>(laws.vocabulary()), -1);
  for (std::size_t r = 0; r < plan.tokens.size(); ++r)
    plan.rank[static_cast<std::size_t>(plan.tokens[r])] = static_cast<int>(r);

  // Pr(some other draft is outside), as a sum over the first draft outside: no difference of nearly equal numbers.
  Scalar some_outside = laws.zero(), none_before = laws.one();
  std::vector<std::vector<Scalar>> rows;
  for (int k = 0; k < drafts; ++k) {
    auto& row = rows.emplace_back();
    Scalar within = laws.zero();
    for (const Token x : plan.tokens) within += row.emplace_back(laws.proposal(x, k));
    if (k == otherwise) continue;
    some_outside += none_before * laws.sum([&](Token x) -> Scalar {
      return plan.rank[static_cast<std::size_t>(x)] < 0 ? Scalar(laws.proposal(x, k)) : laws.zero();
    });
    none_before *= within;
  }
  plan.law.reserve(plan.rank.size());
  for (Token x = 0; x < laws.vocabulary(); ++x)
    plan.law.push_back(plan.rank[static_cast<std::size_t>(x)] < 0
                           ? Scalar(laws.proposal(x, otherwise))
                           : Scalar(laws.proposal(x, otherwise) * some_outside));
  std::vector<Scalar> room;
  for (const Token x : plan.tokens) {
    const Scalar left = laws.target(x) - plan.law[static_cast<std::size_t>(x)];
    room.push_back(std::max<Scalar>(left, Scalar{0}));
  }
  plan.sets = plan_transport<Scalar>(independent_sets(rows), room);
  plan.sets.spend_spare();
  for (std::size_t r = 0; r < plan.tokens.size(); ++r)
    plan.law[static_cast<std::size_t>(plan.tokens[r])] += plan.sets.served[r];
  return plan;
}

}  // namespace draftproof
