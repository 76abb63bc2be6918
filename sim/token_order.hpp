// A strict order of the tokens at a node, and the law it gives the next token of the greatest of K independent paths.
// Paths are compared token by token; the greatest one is no longer a draw of q, but its law is known.
//
//   K             fan.paths        independent paths that were compared
//   B             fan.below        probability that a path is less than all that pass through node u
//   q(u)          fan.reached      that it passes through u; both up to a common factor
//   z < y         order            later rung (rungs.hpp), or the same rung and a higher id: strict in every model
//   lo(y), hi(y)                   B + q(u) (mass of z < y), the same with y's own mass
//   law(y)                         (hi^K - lo^K) over the sum of these: the greatest path's next token after u
//
// Cost: O(K V) and the rungs. Source: Thomas and Pal, arXiv:2602.16961; the row is derived here, and proved by
// exploration. (hi^K - lo^K) / (hi - lo) is the sum of hi^i lo^j over i + j = K - 1: the difference itself has no
// digits left where q(y) is small.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <draftproof/sim/rungs.hpp>

namespace draftproof {

template <class Scalar>
struct Fan {
  int paths;
  Scalar below{0}, reached{1};
};

/// The strict order of the tokens at one node, with what it needs of the masses.
template <class L>
class TokenOrder {
 public:
  using Scalar = typename L::Scalar;

  explicit TokenOrder(const L& laws)
      : laws_{laws}, rungs_{laws.rungs()}, below_(static_cast<std::size_t>(laws.vocabulary()), laws.zero()) {
    if constexpr (Rungs::single_tokens) {
      for_each_drafted([&](Token x, int rung) { below(x) = mass_from(rung + 1); });
    } else {
      std::vector<Fixed> same(static_cast<std::size_t>(rungs_.size()), 0);
      for_each_drafted([&](Token x, int rung) {
        below(x) = mass_from(rung + 1) + from_fixed(same[static_cast<std::size_t>(rung)]);
        same[static_cast<std::size_t>(rung)] += to_fixed(laws_.proposal(x));
      });
    }
  }

  /// Whether x stands above y.
  bool above(Token x, Token y) const {
    const int a = laws_.rung(rungs_, x), b = laws_.rung(rungs_, y);
    return a < b || (a == b && x < y);
  }

  std::vector<Scalar> law(const Fan<Scalar>& fan) const {
    std::vector<Scalar> law(below_.size(), laws_.zero());
    const Scalar share = laws_.one() / Scalar(fan.paths);  // keeps the total of the pass at most 1
    for_each_drafted([&](Token x, int) {
      const Scalar lo = low(fan, x), hi = lo + fan.reached * laws_.proposal(x);
      Scalar sum = laws_.one(), power = laws_.one();
      for (int degree = 1; degree < fan.paths; ++degree) {
        power *= lo;
        sum = hi * sum + power;
      }
      law[static_cast<std::size_t>(x)] = share * sum * laws_.proposal(x);
    });
    const Scalar total = laws_.sum([&law](Token x) { return law[static_cast<std::size_t>(x)]; });
    for (auto& probability : law) probability /= total;
    return law;
  }

  /// The fan seen from the child that x leads to. Scaled to below + reached = 1, so that neither runs out of digits.
  Fan<Scalar> after(const Fan<Scalar>& fan, Token x) const {
    const Scalar lo = low(fan, x), own = fan.reached * laws_.proposal(x);
    return {fan.paths, Scalar(lo / (lo + own)), Scalar(own / (lo + own))};
  }

 private:
  using Rungs = decltype(std::declval<const L&>().rungs());

  Scalar low(const Fan<Scalar>& fan, Token x) const {
    return fan.below + fan.reached * below_[static_cast<std::size_t>(x)];
  }
  Scalar& below(Token x) { return below_[static_cast<std::size_t>(x)]; }
  Scalar mass_from(int rung) const { return rungs_.proposal_below(rungs_.size()) - rungs_.proposal_below(rung); }
  /// Tokens with q > 0, from high ids to low ones.
  template <class Visit>
  void for_each_drafted(Visit visit) const {
    for (Token x = laws_.vocabulary(); x-- > 0;)
      if (laws_.proposal(x) > laws_.zero()) visit(x, laws_.rung(rungs_, x));
  }

  const L& laws_;
  Rungs rungs_;
  std::vector<Scalar> below_;
};

}  // namespace draftproof
