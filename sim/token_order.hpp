// A strict order of the tokens at a node, and the path it leaves behind: of K independent paths the greatest one,
// compared token by token, is no longer a draw of q, but how the others lie below it is known.
//
//   K             fan.paths        independent paths that were compared
//   B             fan.below        probability that a path is less than all that pass through node u
//   q(u)          fan.reached      that it passes through u; both up to a common factor
//   z < y         order            later rung (rungs.hpp), or the same rung and a higher id: strict in every model
//   q(z < y)      order.below(y)   mass of the tokens below y; order.total() that of all
//
// Cost: O(1) a call where single tokens are ranked (token_ranking.hpp); for buckets a pass over the vocabulary, one
// more for a token that is placed, and one for the table of all.
// Source: Thomas and Pal, arXiv:2602.16961.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <draftproof/sim/token_ranking.hpp>

namespace draftproof {

template <class Scalar>
struct Fan {
  int paths;
  Scalar below{0}, reached{1};
};

/// The order at one node of laws in buckets: ties within a bucket go by id. A token alone is placed by a pass of its
/// own; who asks for all of them makes a table first.
template <class L>
class TokenOrder {
 public:
  using Scalar = typename L::Scalar;

  explicit TokenOrder(const L& laws) : laws_{&laws}, rungs_{laws.rungs()} {}

  /// Whether x stands above y.
  bool above(Token x, Token y) const {
    const int a = rung(x), b = rung(y);
    return a < b || (a == b && x < y);
  }
  Scalar below(Token x) const {
    if (x == placed_) return place_;
    placed_ = x;
    return place_ = below(rung(x), laws_->sum([this, x, of = rung(x)](Token y) {
             const bool same = y > x && laws_->proposal(y) > laws_->zero() && rung(y) == of;
             return same ? Scalar(laws_->proposal(y)) : laws_->zero();
           }));
  }
  Scalar total() const { return rungs_.proposal_below(rungs_.size()); }

  /// below(x) of every x that can be drafted: the same numbers, because sums of a bucket are of integers.
  std::vector<Scalar> all_below() const {
    std::vector<Scalar> all(static_cast<std::size_t>(laws_->vocabulary()), laws_->zero());
    std::vector<Fixed> same(static_cast<std::size_t>(rungs_.size()), 0);
    for (Token x = laws_->vocabulary(); x-- > 0;) {
      if (!(laws_->proposal(x) > laws_->zero())) continue;
      Fixed& before = same[static_cast<std::size_t>(rung(x))];
      all[static_cast<std::size_t>(x)] = below(rung(x), from_fixed(before));
      before += to_fixed(laws_->proposal(x));
    }
    return all;
  }

 private:
  int rung(Token x) const { return laws_->rung(rungs_, x); }
  Scalar below(int rung, const Scalar& same) const { return total() - rungs_.proposal_below(rung + 1) + same; }

  const L* laws_;
  decltype(std::declval<const L&>().rungs()) rungs_;
  mutable Token placed_ = no_token;  ///< the token asked for last: whoever takes it asks again
  mutable Scalar place_{0};
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
