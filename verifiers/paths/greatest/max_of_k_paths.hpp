// The distribution of the greatest of K independent paths. The tokens of the greatest path are not draws of q, but
// their distribution follows from the probability that the other paths are below it.
//
//   K             paths                independent paths that were compared
//   B             below                probability that a path is less than all paths through node u
//   q(u)          reached              probability that it passes through u; both up to a common factor
//   lo(m)         under(m)             B + q(u) m: that it is less than the paths through u and a token above mass m
//   w(hi, lo)     divided_difference   sum of hi^i lo^j over i + j = K - 1, (hi^K - lo^K) / (hi - lo)
//
// Cost: O(K) per divided_difference. The form (hi^K - lo^K) / (hi - lo) would lose digits by cancellation where hi and
// lo are close.
// Source: Thomas and Pal, arXiv:2602.16961.
#pragma once

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

template <class Scalar>
struct MaxOfKPaths {
  int paths;
  Scalar below, reached;

  /// K paths at the node where they start together.
  DRAFTPROOF_DEVICE static MaxOfKPaths of(int paths) { return {paths, Scalar{0}, Scalar{1}}; }

  DRAFTPROOF_DEVICE Scalar under(const Scalar& mass) const { return below + reached * mass; }
  DRAFTPROOF_DEVICE Scalar divided_difference(const Scalar& hi, const Scalar& lo) const {
    Scalar sum{1}, power{1};
    for (int degree = 1; degree < paths; ++degree) {
      power *= lo;
      sum = hi * sum + power;
    }
    return sum;
  }
  /// Weight of a token with proposal q > 0 and q-mass `mass` below it. Its probability is this weight over the weight
  /// of all tokens together.
  DRAFTPROOF_DEVICE Scalar skewed(const Scalar& q, const Scalar& mass) const {
    const Scalar lo = under(mass);
    return q * divided_difference(Scalar(lo + reached * q), lo);
  }
  /// Returns the value at the child whose token has proposal q and q-mass `mass` below it. Scales below + reached to 1,
  /// against underflow.
  DRAFTPROOF_DEVICE MaxOfKPaths after(const Scalar& q, const Scalar& mass) const {
    const Scalar lo = under(mass), own = reached * q;
    return {paths, Scalar(lo / (lo + own)), Scalar(own / (lo + own))};
  }
};

}  // namespace draftproof
