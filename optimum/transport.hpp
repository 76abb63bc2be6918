// The optimum of any draft law at small V as a maximal flow, with the plan that reaches it:
//
//   source --Q(A)--> A --Q(A)--> x in A --p(x)--> sink
//
//   A      one node per set of distinct tokens that can be drafted; tuples of one set are interchangeable
//   x      one node per token
//
// Cost: push-relabel (Boost.Graph) on integer capacities, milliseconds to some thousands of sets.
//
// Correctness: the result is a certificate that its checker can verify (certificate.hpp).
//
// Source: Sun et al. 2023, arXiv:2310.15141 (the problem); sets instead of tuples and the cut in docs/optimum.md.
#pragma once

#include <draftproof/optimum/certificate.hpp>

namespace draftproof {

/// The optimum and its plan over the common denominator: exact.
/// Throws: std::range_error if the common denominator has more than 1020 bits.
Certificate<Rational> optimal_transport(std::span<const Rational> target, const std::map<TokenSet, Rational>& drafts);

/// The optimum and its plan with capacities rounded down to multiples of 2^-52, so the plan stays within the given
/// laws. The acceptance is at most (V + sets) 2^-52 below the optimum.
Certificate<double> optimal_transport(std::span<const double> target, const std::map<TokenSet, double>& drafts);

}  // namespace draftproof
