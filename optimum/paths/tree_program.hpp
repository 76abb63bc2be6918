// The most tokens that any verifier of a drafted tree accepts on average, as a linear program solved by Clp, with
// what the solver says turned into a certificate in fractions (certify.hpp).
//
//   maximise   sum over prefixes x != () of a(x)
//   subject to sum over n in T of w(T, n) = Pr(T)                       one row a tree
//              sum over T of w(T, x) + sum over y of a(xy) = a(x)       one row a prefix
//              a(xy) <= p(y|x) a(x), or a(x) <= p(x) for whole blocks   one row a prefix
//
// A column w has two entries, so the matrix is sparse. Cost: a second or two at 30,000 nodes of all trees.
// Source: derived in docs/optimum.md, "Trees". Right whatever Clp returns: both bounds are made feasible in fractions
// first. Clp decides only how far apart they are: 1e-9 is asked for in the tests, 5e-15 was the most at 30,000 nodes.
#pragma once

#include <draftproof/optimum/paths/certify.hpp>

namespace draftproof {

/// The solver's word. Throws std::runtime_error if Clp finds no optimum.
TreeProposal solve_tree_program(const TreeLaw& law, Sight sight);

/// Certified. lower <= optimum <= upper.
TreeCertificate tree_optimum(const TreeLaw& law, Sight sight);

}  // namespace draftproof
