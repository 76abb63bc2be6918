// Which of two i.i.d. drafts is selected: by an optimal flow where both are among the first s tokens of an
// order, the earlier one otherwise. The law of the selected draft is then known at any V.
//
//   order    rank[x]    draftable tokens by p - q^2 descending; -1 where q = 0
//   s        inside     tokens whose pairs the flow decides
//   w        pairs      shares of the pairs {i,j} of ranks below s, of mass 2 q_i q_j
//   b        base       p_I without those pairs: q^2 + 2 q q(later tokens, from rank s on)
//   p_I      law[x]     b + the shares of x
//
// Every token has b >= q^2, so the loss against the optimum is at most the sum of (p - q^2)+ from rank s on:
// keep an optimal selection's pairs inside, and inside tokens only gain while others keep q^2
// (docs/plans.md).
// Cost: O(V log V) and a flow over s^2 edges.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <draftproof/sim/fixed_point.hpp>
#include <draftproof/sim/transport_plan.hpp>

namespace draftproof {

template <class Scalar>
struct PairPlan {
  std::vector<int> rank;
  int inside = 0;
  TransportPlan<Scalar> pairs;
  std::vector<Scalar> law;

  /// Of drafts a and b, which q can draw.
  template <class R>
  Token select(Token a, Token b, R& random) const {
    if (rank_of(b) < rank_of(a)) std::swap(a, b);
    const Token ranks[2] = {rank_of(a), rank_of(b)};
    if (a == b || ranks[1] >= inside) return a;
    const auto pair = pairs.drafts.of(ranks, 2);
    return pair == pairs.drafts.size() || pairs.pick(pair, random) == 0 ? a : b;
  }

 private:
  int rank_of(Token x) const { return rank[static_cast<std::size_t>(x)]; }
};

/// Sums in integers where the scalar is floating: the same bits in any order.
template <class Scalar>
class VocabularySum {
 public:
  void operator+=(const Scalar& term) {
    if constexpr (std::is_floating_point_v<Scalar>)
      sum_ += to_fixed(term);
    else
      sum_ += term;
  }
  Scalar value() const {
    if constexpr (std::is_floating_point_v<Scalar>)
      return from_fixed(sum_);
    else
      return sum_;
  }

 private:
  std::conditional_t<std::is_floating_point_v<Scalar>, Fixed, Scalar> sum_{0};
};

template <class L>
PairPlan<typename L::Scalar> plan_pairs(const L& laws, int tokens) {
  using Scalar = typename L::Scalar;
  struct Entry {
    Scalar excess, p, q;
    Token x;
  };
  std::vector<Entry> order;
  for (Token x = 0; x < laws.vocabulary(); ++x)
    if (const Scalar p = laws.target(x), q = laws.proposal(x); q > Scalar{0}) order.push_back({p - q * q, p, q, x});
  // Ids decide between equal tokens only, so names do not matter.
  std::sort(order.begin(), order.end(), [](const Entry& a, const Entry& b) {
    if (a.excess != b.excess) return a.excess > b.excess;
    return a.p > b.p || (a.p == b.p && a.x < b.x);
  });

  PairPlan<Scalar> plan;
  plan.inside = std::clamp(tokens, 0, static_cast<int>(order.size()));
  const auto inside = static_cast<std::size_t>(plan.inside);
  plan.rank.assign(static_cast<std::size_t>(laws.vocabulary()), -1);
  plan.law.assign(plan.rank.size(), Scalar{0});
  std::vector<Scalar> base(order.size());
  VocabularySum<Scalar> later;
  for (std::size_t r = order.size(); r-- > 0;) {
    base[r] = order[r].q * (order[r].q + Scalar{2} * later.value());
    if (r >= inside) later += order[r].q;
  }
  std::vector<Scalar> room;
  DraftSets<Scalar> pairs;
  for (std::size_t r = 0; r < inside; ++r) {
    const Scalar left = order[r].p - base[r];
    room.push_back(std::max<Scalar>(left, Scalar{0}));
    for (std::size_t t = r + 1; t < inside; ++t)
      pairs.add({static_cast<Token>(r), static_cast<Token>(t)}, Scalar{2} * order[r].q * order[t].q);
  }
  plan.pairs = plan_transport<Scalar>(std::move(pairs), room);
  plan.pairs.spend_spare();
  for (std::size_t r = 0; r < order.size(); ++r) {
    const auto x = static_cast<std::size_t>(order[r].x);
    plan.rank[x] = static_cast<int>(r);
    plan.law[x] = r < inside ? Scalar(base[r] + plan.pairs.served[r]) : base[r];
  }
  return plan;
}

}  // namespace draftproof
