// Selection of one of two i.i.d. drafts: by an optimal flow if both are among the first s tokens of an order,
// otherwise the earlier one. So the law of the selected draft is known for any V.
//
//   order    rank[x]    draftable tokens by p - q^2 descending; -1 where q = 0
//   s        inside     number of tokens whose pairs the flow decides
//   w        pairs      shares of the pairs {i,j} of ranks below s, of mass 2 q_i q_j
//   b        base       p_I without those pairs: q^2 + 2 q q(later tokens, from rank s on)
//   p_I      law[x]     b + the shares of x
//
// Cost: O(V log V) and a flow over s^2 edges. A single decision rarely needs the sort: pair_selection.hpp.
// Acceptance: the optimum less at most the sum of (p - q^2)+ from rank s on. Every token has b >= q^2. Change an
// optimal selection to this rule outside: tokens inside can only gain, and the others keep q^2 (docs/plans.md).
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/numeric/radix_sort.hpp>
#include <draftproof/verifiers/transport/transport_plan.hpp>

namespace draftproof {

template <class Scalar>
struct PairPlan {
  std::vector<int> rank;
  int inside = 0;
  TransportPlan<Scalar> pairs;
  std::vector<Scalar> law;

  /// The token selected from drafts a and b, which q can draw.
  template <class R>
  Token select(Token a, Token b, R& random) const {
    if (probability_rank(b) < probability_rank(a)) std::swap(a, b);
    const Token ranks[2] = {probability_rank(a), probability_rank(b)};
    if (a == b || ranks[1] >= inside) return a;
    const auto pair = pairs.drafts.of(ranks, 2);
    return pair == pairs.drafts.size() || pairs.pick(pair, random) == 0 ? a : b;
  }

 private:
  int probability_rank(Token x) const { return rank[static_cast<std::size_t>(x)]; }
};

/// Sums in integers if the scalar is floating-point: the same bits in any order.
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

/// A token that can be drafted.
template <class Scalar>
struct PairEntry {
  Scalar excess, p, q;  ///< p - q^2, p, q
  Token x;

  template <class L>
  static PairEntry of(const L& laws, Token x) {
    const Scalar p = laws.target(x), q = laws.proposal(x);
    return {p - q * q, p, q, x};
  }
  /// The order of a pair plan. Ids decide between equal tokens only, so relabelling changes nothing. No branches:
  /// passes compare every token with one.
  bool before(const PairEntry& other) const {
    const int larger = p > other.p, tied = p == other.p, early = x < other.x;
    const int above = excess > other.excess, even = excess == other.excess;
    return (above | (even & (larger | (tied & early)))) != 0;
  }
};

/// Shares of the pairs of these tokens; `base` is the part of p_I outside these pairs.
template <class Scalar>
TransportPlan<Scalar> share_pairs(std::span<const PairEntry<Scalar>> inside, std::span<const Scalar> base) {
  std::vector<Scalar> room;
  DraftSets<Scalar> pairs;
  for (std::size_t r = 0; r < inside.size(); ++r) {
    const Scalar left = inside[r].p - base[r];
    room.push_back(std::max<Scalar>(left, Scalar{0}));
    for (std::size_t t = r + 1; t < inside.size(); ++t)
      pairs.add({static_cast<Token>(r), static_cast<Token>(t)}, Scalar{2} * inside[r].q * inside[t].q);
  }
  auto shares = plan_transport<Scalar>(std::move(pairs), room);
  shares.spend_spare();
  return shares;
}

/// All tokens that can be drafted, in their order; sorted by radix if scalars are floating-point.
template <class L>
std::vector<PairEntry<typename L::Scalar>> pair_order(const L& laws) {
  using Scalar = typename L::Scalar;
  using Entry = PairEntry<Scalar>;
  const auto before = [](const Entry& a, const Entry& b) { return a.before(b); };
  std::vector<Entry> order;
  order.reserve(static_cast<std::size_t>(laws.vocabulary()));
  if constexpr (std::is_floating_point_v<Scalar>) {
    std::vector<KeyedToken> above, below;  // keys must not be negative
    for (Token x = 0; x < laws.vocabulary(); ++x)
      if (const Entry entry = Entry::of(laws, x); entry.q > 0) {
        if (entry.excess < 0)
          below.push_back({-entry.excess, x});
        else
          above.push_back({entry.excess, x});
      }
    sort_by_key(above);
    sort_by_key(below);
    above.insert(above.end(), below.rbegin(), below.rend());
    for (const KeyedToken& keyed : above) order.push_back(Entry::of(laws, keyed.token));
    for (auto first = order.begin(), last = first; first != order.end(); first = last) {
      while (last != order.end() && last->excess == first->excess) ++last;
      std::sort(first, last, before);
    }
  } else {
    for (Token x = 0; x < laws.vocabulary(); ++x)
      if (Entry entry = Entry::of(laws, x); entry.q > Scalar{0}) order.push_back(std::move(entry));
    std::sort(order.begin(), order.end(), before);
  }
  return order;
}

/// The plan whose flow decides pairs among the first `tokens` tokens of the order.
template <class L>
PairPlan<typename L::Scalar> plan_pairs(const L& laws, int tokens) {
  using Scalar = typename L::Scalar;
  const auto order = pair_order(laws);
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
  plan.pairs = share_pairs<Scalar>(std::span(order).first(inside), std::span(base).first(inside));
  for (std::size_t r = 0; r < order.size(); ++r) {
    const auto x = static_cast<std::size_t>(order[r].x);
    plan.rank[x] = static_cast<int>(r);
    plan.law[x] = r < inside ? Scalar(base[r] + plan.pairs.served[r]) : base[r];
  }
  return plan;
}

}  // namespace draftproof
