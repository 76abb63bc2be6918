// Exact comparison with the acceptance of K-SEQ at its root, in fractions although the root is algebraic. The root is
// never computed: the sign of a polynomial at a fraction tells on which side of the root the fraction lies.
//
//   F(b)     residual_mass(p, q, b)   sum of (p - b q)+
//   G(b)     1 - F(b)                 sum of min(p, b q): concave, rising up to b = max p / q, constant beyond
//   h(b)     excess(p, q, K, b)       1 - (1 - G(b) / b)^K - G(b)
//   rho*     -                        the smallest root of h in [1, K]; K-SEQ accepts G(rho*) there
//   a        acceptance               the acceptance to compare
//
// Cost: O(V^2) operations.
//
// Correctness: G rises and G(b) / b falls, so h = (1 - (1 - G / b)^K) - G falls. Let b be the smallest G^-1(a). If
// h(b) < 0, b is behind the root, where G is smaller at the root. If h(b) > 0, b is before the root, where G is
// larger unless it is constant from b on. At a root, G(b) = 1 - (1 - G / b)^K both rises and falls with b, so all
// roots share one value of G.
//
// Source: K-SEQ is Sun et al. 2023, arXiv:2310.15141; the comparison is derived here.
#pragma once

#include <cassert>
#include <optional>

#include <draftproof/optimum/iid_acceptance.hpp>

namespace draftproof::acceptance {

/// h(b) for b > 0: positive before the first root, negative behind the last one.
template <class Scalar>
Scalar excess(const std::vector<Scalar>& p, const std::vector<Scalar>& q, int drafts, const Scalar& b) {
  const Scalar accepted = 1 - residual_mass(p, q, b);
  const Scalar refused = 1 - accepted / b;
  return 1 - power(refused, drafts) - accepted;
}

/// max p / q over q > 0; F is constant from there on.
template <class Scalar>
Scalar largest_ratio(const std::vector<Scalar>& p, const std::vector<Scalar>& q) {
  Scalar largest = 0;
  for (std::size_t x = 0; x < p.size(); ++x)
    if (q[x] > 0) largest = std::max<Scalar>(largest, p[x] / q[x]);
  return largest;
}

/// The smallest b with G(b) = a >= 0; nothing if G stays below a.
template <class Scalar>
std::optional<Scalar> overlap_inverse(const std::vector<Scalar>& p, const std::vector<Scalar>& q, const Scalar& a) {
  std::vector<std::size_t> order;
  Scalar slope = 0;
  for (std::size_t x = 0; x < p.size(); ++x)
    if (q[x] > 0) {
      order.push_back(x);
      slope += q[x];
    }
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return p[i] * q[j] < p[j] * q[i]; });
  Scalar full = 0;  // p-mass of the tokens with min(p, b q) = p
  for (const std::size_t x : order) {
    // On this piece G(b) = full + b slope, up to b = p / q of x.
    if ((full + p[x] / q[x] * slope) >= a) return Scalar((a - full) / slope);
    full += p[x];
    slope -= q[x];
  }
  return std::nullopt;
}

/// -1, 0 or 1 as the acceptance a is below, equal to or above that of K-SEQ at its root.
template <class Scalar>
int compare_with_k_seq(const Scalar& a, const std::vector<Scalar>& p, const std::vector<Scalar>& q, int drafts) {
  assert(drafts >= 1);
  const std::optional<Scalar> found = overlap_inverse(p, q, a);
  if (!found) return 1;  // K-SEQ accepts some G(b), and all of them are below a
  const Scalar b = *found, last = largest_ratio(p, q);
  const auto side = [&](const Scalar& at) -> int {  // -1: before the root, 0: a root, 1: behind
    if (at < 1) return -1;
    const Scalar h = excess(p, q, drafts, at);
    return h > 0 ? -1 : (h < 0 ? 1 : 0);
  };
  const int where = side(b);
  if (where < 0) return b < last ? -1 : 0;
  return where > 0 ? 1 : 0;
}

}  // namespace draftproof::acceptance
