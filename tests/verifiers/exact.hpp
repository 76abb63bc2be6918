// Exact laws of one verifier under one draft law, and the formulas of the literature that they are compared with.
#pragma once

#include <algorithm>
#include <stdexcept>

#include <draftproof/properties/examination.hpp>
#include <draftproof/properties/registry.hpp>
#include <draftproof/verifiers/k_seq.hpp>

namespace draftproof::exact {

using Row = std::vector<Rational>;

/// The explored law of a registered scheme, in fractions.
inline ExactLaw<Rational> law(std::string_view scheme, std::string_view draft_law, const Rows<Rational>& rows,
                              int drafts) {
  const AnyVerifier* verifier = registry().verifier(scheme);
  const AnyDrafter* drafter = registry().drafter(draft_law);
  if (!verifier || !drafter) throw std::invalid_argument("no such scheme or draft law");
  return explore_law(*drafter, *verifier->prove_on(rows, drafts), rows, drafts);
}

/// F(b) = sum (p - b q)+.
template <class Scalar>
Scalar residual_mass(const std::vector<Scalar>& p, const std::vector<Scalar>& q, const Scalar& b) {
  Scalar sum = 0;
  for (std::size_t x = 0; x < p.size(); ++x) sum += std::max<Scalar>(p[x] - b * q[x], 0);
  return sum;
}

template <class Scalar>
Scalar power(const Scalar& base, int exponent) {
  Scalar product = 1;
  while (exponent-- > 0) product *= base;
  return product;
}

/// 1 - F(b_(K+1)) with b_1 = 0, b_(k+1) = b_k + F(b_k).
template <class Scalar>
Scalar recursive_rejection(const std::vector<Scalar>& p, const std::vector<Scalar>& q, int drafts) {
  Scalar b = 0;
  for (int k = 0; k < drafts; ++k) b += residual_mass(p, q, b);
  return 1 - residual_mass(p, q, b);
}

/// 1 - sum (p - q)+ (1 - q)^(K - 1).
template <class Scalar>
Scalar naive_tree(const std::vector<Scalar>& p, const std::vector<Scalar>& q, int drafts) {
  Scalar missed = 0;
  for (std::size_t x = 0; x < p.size(); ++x)
    missed += std::max<Scalar>(p[x] - q[x], 0) * power<Scalar>(1 - q[x], drafts - 1);
  return 1 - missed;
}

/// sum p (1 - (1 - q)^K).
template <class Scalar>
Scalar sample_and_match(const std::vector<Scalar>& p, const std::vector<Scalar>& q, int drafts) {
  Scalar matched = 0;
  for (std::size_t x = 0; x < p.size(); ++x) matched += p[x] * (1 - power<Scalar>(1 - q[x], drafts));
  return matched;
}

/// 1 - F(rho*) with the root of F(rho) = (1 - (1 - F(rho)) / rho)^K that this bisection finds in [1, K].
inline double k_seq(const std::vector<double>& p, const std::vector<double>& q, int drafts) {
  double low = 1, high = drafts;
  for (int step = 0; step < 200 && low < high; ++step) {
    const double rho = low + (high - low) / 2;
    const double mass = residual_mass(p, q, rho);
    (power(1 - (1 - mass) / rho, drafts) < mass ? low : high) = rho;
  }
  return 1 - residual_mass(p, q, high);
}

inline std::vector<double> as_doubles(const Row& row) {
  std::vector<double> doubles;
  for (const Rational& value : row) doubles.push_back(static_cast<double>(value));
  return doubles;
}

}  // namespace draftproof::exact
