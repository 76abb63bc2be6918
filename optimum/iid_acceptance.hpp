// Acceptance of the schemes for K i.i.d. drafts in closed form, in any scalar. One evaluation of sums over the
// vocabulary replaces an exploration, so these functions are cheap oracles at any V.
//
//   F(b)   residual_mass(p, q, b)   sum of (p - b q)+
//   p, q   rows of V                target and proposal
//
// Source: docs/optimum.md; tests/verifiers/closed_forms_test.cpp compares them with the explored programs in
// fractions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/numeric/cut_bound.hpp>

namespace draftproof::acceptance {

/// F(b) = sum (p - b q)+.
template <class Scalar>
Scalar residual_mass(const std::vector<Scalar>& p, const std::vector<Scalar>& q, const Scalar& b) {
  Scalar sum = 0;
  for (std::size_t x = 0; x < p.size(); ++x) sum += std::max<Scalar>(p[x] - b * q[x], 0);
  return sum;
}

/// base^exponent for exponent >= 0.
template <class Scalar>
Scalar power(const Scalar& base, int exponent) {
  Scalar product = 1;
  while (exponent-- > 0) product *= base;
  return product;
}

/// Acceptance of recursive rejection: 1 - F(b_(K+1)) with b_1 = 0, b_(k+1) = b_k + F(b_k).
template <class Scalar>
Scalar recursive_rejection(const std::vector<Scalar>& p, const std::vector<Scalar>& q, int drafts) {
  Scalar b = 0;
  for (int k = 0; k < drafts; ++k) b += residual_mass(p, q, b);
  return 1 - residual_mass(p, q, b);
}

/// Acceptance of the naive tree: 1 - sum (p - q)+ (1 - q)^(K - 1).
template <class Scalar>
Scalar naive_tree(const std::vector<Scalar>& p, const std::vector<Scalar>& q, int drafts) {
  Scalar missed = 0;
  for (std::size_t x = 0; x < p.size(); ++x)
    missed += std::max<Scalar>(p[x] - q[x], 0) * power<Scalar>(1 - q[x], drafts - 1);
  return 1 - missed;
}

/// Acceptance of sample-and-match: sum p (1 - (1 - q)^K).
template <class Scalar>
Scalar sample_and_match(const std::vector<Scalar>& p, const std::vector<Scalar>& q, int drafts) {
  Scalar matched = 0;
  for (std::size_t x = 0; x < p.size(); ++x) matched += p[x] * (1 - power<Scalar>(1 - q[x], drafts));
  return matched;
}

/// Largest acceptance of any lossless verifier: min over prefixes S of the order of rising p / q of
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

/// Acceptance of K-SEQ: 1 - F(rho*), where bisection finds the root of F(rho) = (1 - (1 - F(rho)) / rho)^K in [1, K].
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

/// The optimum of K = `drafts` >= 1 independent draws of the table's first proposal.
Optimum iid_optimum(const RatioTable& table, int drafts);

}  // namespace draftproof
