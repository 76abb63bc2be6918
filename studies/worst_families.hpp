// Two families of pairs of two tokens on which sequential schemes fall furthest below the optimum, as far as is
// known: p = (1 - q^K, q^K) against (1 - q, q). The optimum is 1 for every q, and one number gives the acceptance of
// a scheme.
//
//   q     proposal   mass of the second token
//   top   q^K        target mass of the second token; spreads the interesting q evenly for every K
//   s     -          probability that K-SEQ at its root refuses one draft
//
// K-SEQ, derived here. From rho = 1 up to p_1 / q_1 = 1 + q + .. + q^(K-1), G(rho) = rho (1 - q) + q^K, so 1 - beta =
// s means s = q - q^K / rho, and the root's equation 1 - s^K = rho (1 - s) gives rho = 1 + s + .. + s^(K-1).
// Together:
//
//   q^K = rho(s) (q - s),   acceptance 1 - s^K.
//
// For fixed s the left side is convex in q and above the line at q = s and at q = 1; the largest s with a solution q
// is the one whose line is a tangent: K q^(K-1) = rho and q = K (q - s). So the minimum has s = q (K - 1) / K with
// K q^(K-1) = 1 + s + .. + s^(K-1). At K = 2 q = 2/3 and 8/9; at K = 3 q = (3 + 6 sqrt 6) / 23. As K grows s^K tends
// to e^-c with e^c = 1 + e c.
//
// Recursive rejection: it accepts 1 - q^K (1 - q^(K-1)), least where q^(K-1) = K / (2 K - 1); the limit is 3/4.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <boost/math/tools/minima.hpp>

#include <draftproof/optimum/iid_acceptance.hpp>

namespace draftproof::worst {

struct Minimum {
  double q, acceptance;
};

/// The zero of a continuous function that is negative at `low` and positive at `high`, to neighbouring numbers.
template <class Function>
double zero_of(Function f, double low, double high) {
  for (double middle = low + (high - low) / 2; low < middle && middle < high; middle = low + (high - low) / 2)
    (f(middle) < 0 ? low : high) = middle;
  return high;
}

inline Minimum k_seq(int drafts) {
  const double K = drafts;
  const auto tangent = [K](double q) {
    const double s = q * (K - 1) / K;
    return K * std::pow(q, K - 1) * (1 - s) - (1 - std::pow(s, K));
  };
  const double q = zero_of(tangent, 0, 1);
  return {q, 1 - std::pow(q * (K - 1) / K, K)};
}

/// The limit of K-SEQ's minimum as K grows.
inline double k_seq_limit() {
  const double e = std::exp(1.0);
  const double c = zero_of([e](double x) { return std::exp(x) - 1 - e * x; }, 1, 2);
  return 1 - std::exp(-c);
}

inline Minimum recursive_rejection(int drafts) {
  const double K = drafts;
  const double q = std::pow(K / (2 * K - 1), 1 / (K - 1));
  return {q, 1 - std::pow(q, K) * (K - 1) / (2 * K - 1)};
}

/// The minimum over q of accepts(p, q, K) on the family, by Brent's method on `top`. The position of a minimum can be
/// found to half of a double's digits only.
template <class Accepts>
Minimum numerically(Accepts accepts, int drafts) {
  const auto pair_of = [drafts](double top) { return std::pow(top, 1.0 / drafts); };
  const auto at = [&](double top) {
    const double q = pair_of(top), rest = -std::expm1(std::log(top) / drafts);
    return accepts(std::vector<double>{1 - top, top}, std::vector<double>{rest, q}, drafts);
  };
  std::uintmax_t steps = 200;
  const auto [top, value] = boost::math::tools::brent_find_minima(at, 0x1p-10, 1 - 0x1p-10, 26, steps);
  return {pair_of(top), value};
}

}  // namespace draftproof::worst
