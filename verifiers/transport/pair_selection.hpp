// The selection of a pair plan (pair_plan.hpp) for one decision: values that depend on the order of all tokens are
// computed by a pass on demand; the sort is needed only to draw the residual.
//
//   W        inside_      the first s tokens of the order
//   base     base_        of those: their q (q + 2 q(outside)), the same sum as the plan's
//   p_I(x)   law(x)       inside from the flow; outside q^2 + 2 q q(tokens after x), a pass
//
// Cost: a pass for W, one for q(outside), one for a law outside; the flow over s^2 edges.
// Correctness: the same bits as the plan, because sums over tokens are of integers and do not depend on the order.
#pragma once

#include <utility>
#include <vector>

#include <draftproof/sim/sampling/top_k.hpp>
#include <draftproof/verifiers/transport/pair_plan.hpp>

namespace draftproof {

template <class L>
class PairChoice {
 public:
  using Scalar = typename L::Scalar;
  using Entry = PairEntry<Scalar>;

  /// `laws` must outlive this; the flow decides pairs among the first `tokens` tokens.
  PairChoice(const L& laws, int tokens) : laws_{laws} {
    const auto excess = [&laws](Token x) -> Scalar { return Entry::of(laws, x).excess; };
    const auto before = [&laws](Token a, Token b) { return Entry::of(laws, a).before(Entry::of(laws, b)); };
    const auto draftable = [&laws](Token x) { return laws.proposal(x) > laws.zero(); };
    const auto most = static_cast<std::size_t>(std::max(tokens, 0));
    for (const Token x : first_tokens(laws.vocabulary(), most, excess, before, draftable))
      inside_.push_back(Entry::of(laws, x));
    const Scalar outside = inside_.empty() ? laws.one() : later_mass(inside_.back());
    for (const Entry& entry : inside_) base_.push_back(entry.q * (entry.q + Scalar{2} * outside));
    pairs_ = share_pairs<Scalar>(inside_, base_);
  }

  /// The token selected from drafts a and b, which q can draw.
  template <class R>
  Token select(Token a, Token b, R& random) const {
    if (Entry::of(laws_, b).before(Entry::of(laws_, a))) std::swap(a, b);
    const Token ranks[2] = {probability_rank(a), probability_rank(b)};
    if (a == b || ranks[1] < 0) return a;
    const auto pair = pairs_.drafts.of(ranks, 2);
    return pair == pairs_.drafts.size() || pairs_.pick(pair, random) == 0 ? a : b;
  }

  /// Probability that x is selected.
  Scalar law(Token x) const {
    if (const int r = probability_rank(x); r >= 0) {
      const auto place = static_cast<std::size_t>(r);
      return base_[place] + pairs_.served[place];
    }
    const Entry entry = Entry::of(laws_, x);
    return entry.q * (entry.q + Scalar{2} * later_mass(entry));
  }

 private:
  /// Rank inside, or -1.
  int probability_rank(Token x) const {
    for (std::size_t r = 0; r < inside_.size(); ++r)
      if (inside_[r].x == x) return static_cast<int>(r);
    return -1;
  }
  /// q-mass of the tokens after `entry`.
  Scalar later_mass(const Entry& entry) const {
    return laws_.sum([this, entry](Token x) -> Scalar {
      const Entry other = Entry::of(laws_, x);
      return entry.before(other) ? other.q : laws_.zero();
    });
  }

  const L& laws_;
  std::vector<Entry> inside_;
  std::vector<Scalar> base_;
  TransportPlan<Scalar> pairs_;
};

}  // namespace draftproof
