// An optimum with its proof: a token set whose cut no verifier exceeds, and a plan of emissions that reaches it. The
// checker uses neither the solver nor its network, so trust in a certificate needs trust in the checker only.
//
//   value       acceptance   claimed optimum
//   S           cut          p(S) + 1 - Pr(all drafts in S) = value: nothing accepts more
//   f(A, x)     plan         probability that the drafted set is A and token x of A is emitted; sums to value
//
// Cost: a check takes O(sets + shipments) additions.
//
// Source: max-flow and min-cut of the network in docs/optimum.md.
#pragma once

#include <map>
#include <string>

#include <draftproof/exact/rational.hpp>
#include <draftproof/optimum/set_law.hpp>

namespace draftproof {

/// One entry of a plan: `mass` is the probability that `set` is drafted and `token` of it is emitted.
template <class Weight>
struct Shipment {
  TokenSet set;
  Token token;
  Weight mass;
};

/// `plan` accepts `acceptance`, and the cut of `cut` has the same value.
template <class Weight>
struct Certificate {
  Weight acceptance;
  TokenSet cut;
  std::vector<Shipment<Weight>> plan;
};

/// Why the certificate does not prove that `acceptance` is the optimum of these laws; empty if it does. Every
/// comparison is exact. Requires V <= 64; other sizes are rejected.
std::string reject(std::span<const Rational> target, const std::map<TokenSet, Rational>& drafts,
                   const Certificate<Rational>& certificate);

}  // namespace draftproof
