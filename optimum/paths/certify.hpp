// Turns any proposed solution for a drafted tree into a certificate in fractions. Masses that do not form a plan are
// moved towards the root until they do; prices below 0 become 0.
//
//   u(T, n)   mass of T at n or below         cut to the mass of T
//   f(x)      factor of prefix x              f(xy) = min(f(x), limit of xy / mass accepted at xy so far), f() = 1
//   w(T, n)   u(T, n) f(n) - sum over children c in T of u(T, c) f(c); not negative, since f does not grow downwards
//
// Cost: O(nodes of all trees) fractions.
//
// Correctness: for any input. The limits hold by the choice of f, and any non-negative prices prove a bound
// (tree_certificate.hpp).
//
// Source: derived here.
#pragma once

#include <draftproof/optimum/paths/tree_certificate.hpp>

namespace draftproof {

/// A solver's proposal. Only its shape must be right.
struct TreeProposal {
  std::vector<std::vector<double>> stops;
  std::vector<double> prices;
};

/// The certificate in multiples of 2^-60, or in fractions with short denominators where these prove more. For small
/// models lower == upper.
TreeCertificate certify(const TreeLaw& law, Sight sight, const TreeProposal& proposal);

}  // namespace draftproof
