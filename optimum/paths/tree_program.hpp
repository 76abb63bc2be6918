// The largest expected number of accepted tokens over all verifiers of a drafted tree. Clp solves the linear program,
// and its solution becomes a certificate in fractions (certify.hpp).
//
//   maximise   sum over prefixes x != () of a(x)
//   subject to sum over n in T of w(T, n) = Pr(T)                       one row per tree
//              sum over T of w(T, x) + sum over y of a(xy) = a(x)       one row per prefix
//              a(xy) <= p(y|x) a(x), or a(x) <= p(x) for whole blocks   one row per prefix
//
// A column w(T, n) has two entries, so the matrix is sparse.
//
// Cost: a second or two at 30,000 nodes of all trees.
//
// Correctness: the bounds are right for any output of Clp, because both solutions are first made feasible in fractions.
// Clp affects only the distance of the bounds. Tests require at most 1e-9; the largest distance at 30,000 nodes was
// 5e-15.
//
// Source: derived in docs/optimum.md, "Trees".
#pragma once

#include <functional>
#include <optional>
#include <span>

#include <draftproof/optimum/paths/certify.hpp>
#include <draftproof/optimum/paths/tree_certificate.hpp>

namespace draftproof {

// The optimum of a drafted tree without enumerating trees. The feasible acceptances depend on the draft only through
// the probability that the tree meets a set of prefixes.
//
//   S              antichain       prefixes of which none is a prefix of another
//   h(S)           meets           probability that the tree contains a prefix in S; K i.i.d. paths: 1 - (1 - q(S))^K
//   a(x)                           columns of the program, which maximises the sum of a(x) over x != ()
//   limits                         a(xy) <= p(y|x) a(x); sum of a(x) over x in S <= h(S) for every antichain S
//
// Cost: a few evaluations of h on every antichain. If trees of some depth have c antichains, trees with one more level
// have 1 + c^V (2, 5, 26, 677, 458330 for V = 2; 2, 9, 730 for V = 3; 2, 17, 83522 for V = 4). The linear program
// contains only the binding antichains.
//
// Source: derived in docs/optimum.md, "Trees", by Hall's theorem. This optimum checks the linear program at the top of
// this file by an independent method; for i.i.d. paths it needs no enumeration of trees.

/// The function h: the probability that the tree contains a prefix of an antichain, which is given by the numbers of
/// its prefixes.
using Meets = std::function<double(std::span<const int> antichain)>;

/// Returns the function h for trees with this distribution. Each call of h sums over all trees.
Meets meets_of(const TreeSampling& distribution);
/// Returns the function h for K independent paths, each with the distribution `path`.
Meets meets_of_paths(const TreeSampling& path, int drafts);

/// Calls `visit` for every non-empty antichain of non-empty prefixes.
void for_each_antichain(const TreeSampling& distribution, const std::function<void(std::span<const int>)>& visit);
/// Returns the number of antichains that for_each_antichain visits, at most `most` + 1.
double antichain_count(const TreeSampling& distribution, double most);

/// Returns the optimum within 1e-9, in accepted tokens; nullopt if there are more than `most` antichains. Reads only
/// the prefixes of `distribution`. Throws: std::runtime_error if Clp finds no optimum, or if the rounds that add
/// exceeded limits do not end.
std::optional<double> antichain_optimum(const TreeSampling& distribution, const Meets& meets, double most = 200'000);

/// Returns the solver's uncertified solution. Throws: std::runtime_error if Clp finds no optimum.
TreeProposal solve_tree_program(const TreeSampling& distribution, Sight sight);

/// Returns the certificate, lower <= optimum <= upper. Throws: std::runtime_error if Clp finds no optimum.
TreeCertificate tree_optimum(const TreeSampling& distribution, Sight sight);

}  // namespace draftproof
