// An optimum with its proof: a set of tokens whose cut no verifier exceeds, and a plan of what to emit that reaches
// it. The check uses neither the solver nor its network, so a certificate is worth what its checker is worth.
//
//   value       acceptance   claimed optimum
//   S           cut          p(S) + 1 - Pr(all drafts in S) = value: nothing accepts more
//   f(A, x)     plan         probability that the drafted set is A and token x of A is emitted; sums to value
//
// Cost of a check: O(sets + shipments) additions. Source: max-flow and min-cut of the network in docs/optimum.md.
#pragma once

#include <map>
#include <string>

#include <draftproof/exact/rational.hpp>
#include <draftproof/optimum/set_law.hpp>

namespace draftproof {

template <class Weight>
struct Shipment {
  TokenSet set;
  Token token;
  Weight mass;
};

template <class Weight>
struct Certificate {
  Weight acceptance;
  TokenSet cut;
  std::vector<Shipment<Weight>> plan;
};

/// Why the certificate does not prove that `acceptance` is the optimum of these laws; empty if it does. In fractions,
/// every comparison exact. V <= 64.
std::string reject(std::span<const Rational> target, const std::map<TokenSet, Rational>& drafts,
                   const Certificate<Rational>& certificate);

}  // namespace draftproof
