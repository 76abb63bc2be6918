// The optimum of any draft law at small V as a maximal flow, which also gives the plan that reaches it:
//
//   source --Q(A)--> A --Q(A)--> x in A --p(x)--> sink
//
//   A      one node per set of distinct tokens that can be drafted: tuples of one set are interchangeable
//   x      one node per token
//
// Cost: push-relabel (Boost.Graph) on integer capacities, milliseconds to some thousands of sets. Source: Sun et al.
// 2023, arXiv:2310.15141 (the problem); sets instead of tuples and the cut in docs/optimum.md. Right because it comes
// with its certificate.
#pragma once

#include <draftproof/optimum/certificate.hpp>

namespace draftproof {

/// Fractions over their common denominator: exact. Throws std::range_error if that has more than 1020 bits.
Certificate<Rational> optimal_transport(std::span<const Rational> target, const std::map<TokenSet, Rational>& drafts);

/// Capacities rounded down to multiples of 2^-52, so the plan stays within the laws given; acceptance is at most
/// (V + sets) 2^-52 below the optimum.
Certificate<double> optimal_transport(std::span<const double> target, const std::map<TokenSet, double>& drafts);

}  // namespace draftproof
