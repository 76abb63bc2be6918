// Makes a certificate in fractions of whatever a solver says about a drafted tree: masses that are not a plan are
// moved towards the root until they are one, prices below 0 become 0.
//
//   u(T, n)   mass of T at n or below         cut to what T has
//   f(x)      factor of prefix x              f(xy) = min(f(x), limit of xy / mass accepted at xy so far), f() = 1
//   w(T, n)   u(T, n) f(n) - sum over children c in T of u(T, c) f(c): not negative, since f does not grow downwards
//
// Cost: O(nodes of all trees) fractions. Source: derived here. Right for any input: the limits hold by the choice of
// f, and any prices from 0 prove a bound (tree_certificate.hpp).
#pragma once

#include <draftproof/optimum/paths/tree_certificate.hpp>

namespace draftproof {

/// What a solver proposes; nothing is asked of it but the shape.
struct TreeProposal {
  std::vector<std::vector<double>> stops;
  std::vector<double> prices;
};

/// Multiples of 2^-60, or fractions with short denominators where these prove more: small models get their optimum
/// exactly, lower == upper.
TreeCertificate certify(const TreeLaw& law, Sight sight, const TreeProposal& proposal);

}  // namespace draftproof
