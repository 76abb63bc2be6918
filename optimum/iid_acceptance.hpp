// The acceptance of schemes for K i.i.d. drafts in closed form, in any scalar; a comparison with K-SEQ at its root; and
// whether the optimum is exactly 1. The functions compute sums over the vocabulary, without enumeration, so they are
// cheap references at any V.
//
//   F(b)   residual_mass(p, q, b)   sum of (p - b q)+
//   p, q   rows of V                target and proposal
//
// Source: docs/optimum.md; tests/verifiers/closed_forms_test.cpp compares these closed forms with the enumerated
// programs in fractions.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/optimum/set_distribution.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/numeric/cut_bound.hpp>
#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof::acceptance {

/// Returns F(b) = sum (p - b q)+.
template <class Scalar>
Scalar residual_mass(const std::vector<Scalar>& p, const std::vector<Scalar>& q, const Scalar& b) {
  Scalar sum = 0;
  for (std::size_t x = 0; x < p.size(); ++x) sum += std::max<Scalar>(p[x] - b * q[x], 0);
  return sum;
}

/// Returns base^exponent for exponent >= 0.
template <class Scalar>
Scalar power(const Scalar& base, int exponent) {
  Scalar product = 1;
  while (exponent-- > 0) product *= base;
  return product;
}

/// Returns the acceptance of recursive rejection: 1 - F(b_(K+1)) with b_1 = 0, b_(k+1) = b_k + F(b_k).
template <class Scalar>
Scalar recursive_rejection(const std::vector<Scalar>& p, const std::vector<Scalar>& q, int drafts) {
  Scalar b = 0;
  for (int k = 0; k < drafts; ++k) b += residual_mass(p, q, b);
  return 1 - residual_mass(p, q, b);
}

/// Returns the acceptance of the naive tree: 1 - sum (p - q)+ (1 - q)^(K - 1).
template <class Scalar>
Scalar naive_tree(const std::vector<Scalar>& p, const std::vector<Scalar>& q, int drafts) {
  Scalar missed = 0;
  for (std::size_t x = 0; x < p.size(); ++x)
    missed += std::max<Scalar>(p[x] - q[x], 0) * power<Scalar>(1 - q[x], drafts - 1);
  return 1 - missed;
}

/// Returns the acceptance of sample-and-match: sum p (1 - (1 - q)^K).
template <class Scalar>
Scalar sample_and_match(const std::vector<Scalar>& p, const std::vector<Scalar>& q, int drafts) {
  Scalar matched = 0;
  for (std::size_t x = 0; x < p.size(); ++x) matched += p[x] * (1 - power<Scalar>(1 - q[x], drafts));
  return matched;
}

/// Returns the largest acceptance of any lossless verifier: min over prefixes S of the order of rising p / q of
/// 1 + p(S) - q(S)^K.
template <class Scalar>
Scalar optimum(const std::vector<Scalar>& p, const std::vector<Scalar>& q, int drafts) {
  std::vector<std::size_t> order;
  for (std::size_t x = 0; x < p.size(); ++x)
    if (q[x] > 0) order.push_back(x);
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return p[i] * q[j] < p[j] * q[i]; });
  Scalar least = 1, target = 0, proposal = 0;
  for (const std::size_t x : order) {
    target += p[x];
    proposal += q[x];
    least = std::min<Scalar>(least, 1 + target - power(proposal, drafts));
  }
  return least;
}

/// Returns the acceptance of K-SEQ: 1 - F(rho*), where bisection finds the root rho* of
/// F(rho) = (1 - (1 - F(rho)) / rho)^K in [1, K].
inline double k_seq(const std::vector<double>& p, const std::vector<double>& q, int drafts) {
  double low = 1, high = drafts;
  for (int step = 0; step < 200 && low < high; ++step) {
    const double rho = low + (high - low) / 2;
    const double mass = residual_mass(p, q, rho);
    (power(1 - (1 - mass) / rho, drafts) < mass ? low : high) = rho;
  }
  return 1 - residual_mass(p, q, high);
}

}  // namespace draftproof::acceptance

namespace draftproof {

// The largest acceptance of any lossless verifier of K i.i.d. drafts, at any V: the cut formula
//
//   alpha* = 1 + min over token sets S of p(S) - q(S)^K
//
// The minimiser is a set of the lowest ratios p / q, so a scan of the ratio table finds it.
//
// Cost: O(V) on a table.
//
// Error: below (K + 2) 2^-53. Every term is a difference of two numbers at most 1 with at most K + 1 roundings.
//
// Source: the transport problem of Sun et al. 2023, arXiv:2310.15141; cut and prefix rule derived in docs/optimum.md
// and checked against every set at small V.

/// Returns the optimum of K = `drafts` >= 1 independent draws of the table's first proposal.
Optimum iid_optimum(const RatioTable& table, int drafts);

}  // namespace draftproof

namespace draftproof::acceptance {

// Exact comparison with the acceptance of K-SEQ at its root, in fractions, although the root may be irrational. The
// root is never computed: the sign of h at a fraction shows on which side of the root the fraction lies.
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
// h(b) < 0, b is beyond the root, and G is smaller at the root. If h(b) > 0, b is before the root, and G is larger at
// the root unless it is constant from b on. At roots G(b) = 1 - (1 - G / b)^K, where the left side rises with b and
// the right side falls, so all roots share one value of G.
//
// Source: K-SEQ is Sun et al. 2023, arXiv:2310.15141; the comparison is derived here.

/// Returns h(b) for b > 0: positive before the first root, negative beyond the last root.
template <class Scalar>
Scalar excess(const std::vector<Scalar>& p, const std::vector<Scalar>& q, int drafts, const Scalar& b) {
  const Scalar accepted = 1 - residual_mass(p, q, b);
  const Scalar refused = 1 - accepted / b;
  return 1 - power(refused, drafts) - accepted;
}

/// Returns the largest p / q of the tokens with q > 0; F(b) is constant for larger b.
template <class Scalar>
Scalar largest_ratio(const std::vector<Scalar>& p, const std::vector<Scalar>& q) {
  Scalar largest = 0;
  for (std::size_t x = 0; x < p.size(); ++x)
    if (q[x] > 0) largest = std::max<Scalar>(largest, p[x] / q[x]);
  return largest;
}

/// Returns the smallest b with G(b) = a >= 0; nullopt if G stays below a.
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
    // From the ratio p / q of the previous token to the ratio of x, G(b) = full + b slope.
    if ((full + p[x] / q[x] * slope) >= a) return Scalar((a - full) / slope);
    full += p[x];
    slope -= q[x];
  }
  return std::nullopt;
}

/// Returns -1, 0 or 1 if a is below, equal to or above the acceptance of K-SEQ at its root.
template <class Scalar>
int compare_with_k_seq(const Scalar& a, const std::vector<Scalar>& p, const std::vector<Scalar>& q, int drafts) {
  assert(drafts >= 1);
  const std::optional<Scalar> found = overlap_inverse(p, q, a);
  if (!found) return 1;  // the acceptance of K-SEQ is a value of G, and all values of G are below a
  const Scalar b = *found, last = largest_ratio(p, q);
  const auto side = [&](const Scalar& at) -> int {  // -1: before all roots, 0: a root, 1: beyond all roots
    if (at < 1) return -1;
    const Scalar h = excess(p, q, drafts, at);
    return h > 0 ? -1 : (h < 0 ? 1 : 0);
  };
  const int where = side(b);
  if (where < 0) return b < last ? -1 : 0;
  return where > 0 ? 1 : 0;
}

}  // namespace draftproof::acceptance

namespace draftproof {

// Decides in integers whether some lossless verifier always accepts, that is, whether the optimum is exactly 1.
//
//   condition   p(S) >= Pr(all drafts in S) for every set S of tokens
//   i.i.d.      p(S) >= q(S)^K for the prefixes S of rising p / q, one of which is the least cut
//
// The masses are the integers of the quantised rows, which sum to 2^62; the table represents this distribution.
//
// Cost: O(V) on a table. A set for which p(S) and q(S)^K are equal within rounding costs an integer power of 62 K bits.
//
// Source: the cut formula, docs/optimum.md.

/// Whether the optimum of any draft sampling is 1. Checks all 2^V sets. Requires V <= 20.
bool always_accepts(std::span<const Rational> target, const std::map<TokenSet, Rational>& drafts);

/// Whether the optimum of K = `drafts` i.i.d. drafts is 1. Checks the prefixes in fractions.
bool always_accepts_iid(std::span<const Rational> target, std::span<const Rational> proposal, int drafts);

/// Whether the optimum of K i.i.d. drafts of the table's first proposal is 1. Checks the prefixes in integers.
bool always_accepts_iid(const RatioTable& table, int drafts);

/// Whether the optimum of K drafts of the table's first proposal without replacement is 1. If the support of q has at
/// least K tokens, this optimum is at least the optimum of i.i.d. drafts. Returns nullopt if the optimum without
/// replacement is within rounding of 1 and the optimum of i.i.d. drafts is below 1.
std::optional<bool> always_accepts_without_replacement(const RatioTable& table, int drafts);

}  // namespace draftproof
