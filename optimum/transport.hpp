// The optimum of any draft sampling at small V as a maximal flow, with the plan that reaches it:
//
//   source --Q(A)--> A --Q(A)--> x in A --p(x)--> sink
//
//   A      one node per set of distinct tokens that can be drafted; tuples of one set are interchangeable
//   x      one node per token
//
// Cost: push-relabel (Boost.Graph) on integer capacities; milliseconds for up to some thousands of sets.
//
// Correctness: the result is a certificate that its checker can verify (certificate.hpp).
//
// Source: the problem is from Sun et al. 2023, arXiv:2310.15141; docs/optimum.md derives the reduction of tuples to
// sets, and the cut.
#pragma once

#include <map>

#include <draftproof/optimum/certificate.hpp>
#include <draftproof/optimum/set_distribution.hpp>

namespace draftproof {

// The optimum as a linear program, solved by Clp's primal simplex. It shares no code and no method with the cut
// formula, the flow, the scans and the race of exponential clocks (race_acceptance.hpp), and checks them independently.
//
//   maximise   sum f(A, x)
//   subject to sum over x of f(A, x) <= Q(A), sum over A of f(A, x) <= p(x), f >= 0, x in A
//
// Cost: seconds at a few thousand sets; intended for tens of sets.
//
// Source: Sun et al. 2023, arXiv:2310.15141.

/// Returns the optimum within 1e-9: Clp's primal tolerance, by default 1e-7 per constraint, is set to 1e-11.
/// Throws: std::runtime_error if Clp does not report an optimum.
double linear_program_optimum(std::span<const double> target, const std::map<TokenSet, double>& drafts);

/// Returns the optimum and its plan, computed exactly over the common denominator.
/// Throws: std::range_error if the common denominator has more than 1020 bits.
Certificate<Rational> optimal_transport(std::span<const Rational> target, const std::map<TokenSet, Rational>& drafts);

/// Returns the optimum and its plan with capacities rounded down to multiples of 2^-52, so the plan stays within the
/// given distributions. The acceptance is at most (V + sets) 2^-52 below the optimum.
Certificate<double> optimal_transport(std::span<const double> target, const std::map<TokenSet, double>& drafts);

}  // namespace draftproof
