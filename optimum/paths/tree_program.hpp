// The largest expected number of accepted tokens over all verifiers of a drafted tree. Clp solves the linear program,
// and its solution becomes a certificate in fractions (certify.hpp).
//
//   maximise   sum over prefixes x != () of a(x)
//   subject to sum over n in T of w(T, n) = Pr(T)                       one row a tree
//              sum over T of w(T, x) + sum over y of a(xy) = a(x)       one row a prefix
//              a(xy) <= p(y|x) a(x), or a(x) <= p(x) for whole blocks   one row a prefix
//
// A column w has two entries, so the matrix is sparse.
//
// Cost: a second or two at 30,000 nodes of all trees.
//
// Correctness: for any output of Clp. Both bounds are first made feasible in fractions; Clp affects only their
// distance. Tests require 1e-9; the largest distance at 30,000 nodes was 5e-15.
//
// Source: derived in docs/optimum.md, "Trees".
#pragma once

#include <draftproof/optimum/paths/certify.hpp>

namespace draftproof {

/// The solver's uncertified solution. Throws: std::runtime_error if Clp finds no optimum.
TreeProposal solve_tree_program(const TreeLaw& law, Sight sight);

/// The certificate, lower <= optimum <= upper. Throws: std::runtime_error if Clp finds no optimum.
TreeCertificate tree_optimum(const TreeLaw& law, Sight sight);

}  // namespace draftproof
