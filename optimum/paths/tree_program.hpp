// The most tokens that any verifier of a drafted tree accepts on average, as a linear program solved by Clp, with
// what the solver says turned into a certificate in fractions (tree_certificate.hpp).
//
//   maximise   sum over prefixes x != () of a(x)
//   subject to sum over n in T of w(T, n) = Pr(T)                       one row a tree
//              sum over T of w(T, x) + sum over y of a(xy) = a(x)       one row a prefix
//              a(xy) <= p(y|x) a(x), or a(x) <= p(x) for whole blocks   one row a prefix
//
// A column w has two entries, so the matrix is sparse. Cost: a second at some ten thousand nodes of all trees.
// Source: derived in docs/optimum.md, "Trees". Right whatever Clp returns: both bounds are made feasible in fractions
// first. Clp decides only how far apart they are; 1e-9 in the tests.
#pragma once

#include <draftproof/optimum/paths/tree_certificate.hpp>

namespace draftproof {

/// What a solver proposes; nothing is asked of it but the shape.
struct TreeProposal {
  std::vector<std::vector<double>> stops;
  std::vector<double> prices;
};

/// The solver's word. Throws std::runtime_error if Clp finds no optimum.
TreeProposal solve_tree_program(const TreeLaw& law, Sight sight);

/// A certificate from a proposal: stops are cut back until they are a plan, prices below 0 become 0. Fractions with
/// short denominators are tried first, so that small models get their optimum exactly: lower == upper.
TreeCertificate certify(const TreeLaw& law, Sight sight, const TreeProposal& proposal);

/// Both. lower <= optimum <= upper.
TreeCertificate tree_optimum(const TreeLaw& law, Sight sight);

}  // namespace draftproof
