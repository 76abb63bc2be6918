// A strict order of the tokens at a node, used both to choose a path and to compute the law of the choice.
//
//   z < y         order            single tokens: lower p / q, or the same and a higher id (ratio_ranking.hpp)
//                                  laws in buckets: a lower bucket (order_buckets.hpp), or the same and a higher id
//   q(z < y)      order.below(y)   mass of the tokens below y; order.total() that of all
//
// Cost: O(1) a call. Masses of laws in buckets are passes (order_passes.hpp).
// Source: Thomas and Pal, arXiv:2602.16961; any strict order will do.
#pragma once

#include <cstddef>
#include <type_traits>

#include <draftproof/sim/device/bounded_list.hpp>
#include <draftproof/sim/distributions/ratio_ranking.hpp>
#include <draftproof/verifiers/paths/greatest/order_buckets.hpp>

namespace draftproof {

/// How an object refers to laws: by value on a device, else by reference.
template <class L>
using LawsRef = std::conditional_t<OnDevice<L>, L, const L&>;

/// The order of laws in buckets. `laws` must outlive this.
template <class L>
class TokenOrder {
 public:
  DRAFTPROOF_DEVICE explicit TokenOrder(const L& laws) : laws_{laws} {}

  /// Whether x is above y in the order; both can be drafted.
  DRAFTPROOF_DEVICE bool above(Token x, Token y) const {
    const std::size_t a = bucket(x), b = bucket(y);
    return a > b || (a == b && x < y);
  }

 private:
  DRAFTPROOF_DEVICE std::size_t bucket(Token x) const { return OrderBuckets::of(laws_.target(x), laws_.proposal(x)); }

  LawsRef<L> laws_;
};

template <Ranked L>
class TokenOrder<L> {
 public:
  using Scalar = typename L::Scalar;
  using Ranking = decltype(std::declval<const L&>().ranking());

  explicit TokenOrder(const L& laws) : ranking_{laws.ranking()} {}

  bool above(Token x, Token y) const { return ranking_.of(x) < ranking_.of(y); }
  Scalar below(Token x) const { return ranking_.proposal(ranking_.of(x) + 1, ranking_.size()); }
  Scalar total() const { return ranking_.proposal(0, ranking_.size()); }
  const Ranking& ranking() const { return ranking_; }

 private:
  Ranking ranking_;
};

}  // namespace draftproof
