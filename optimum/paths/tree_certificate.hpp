// Bounds on the expected number of accepted tokens of a drafted tree, with their proofs. A plan proves the lower
// bound; a price for every prefix proves the upper bound. The checker works in fractions and uses no solver, so trust
// in a certificate needs trust in the checker only.
//
//   w(T, n)    stops[t][j]     probability that tree T is drafted and the step stops at node n = trees[t].nodes[j]
//   a(x)                       sum of w over all nodes at x or below: the probability of accepting x
//   sum |n| w  lower           expected number of tokens that the plan accepts
//   pi(x)      prices[i]       price of accepting prefix x, at least 0; 0 for the empty prefix
//   g(n)                       one shot: |n| - sum of pi(x) over x <= n + sum of p(y|x) pi(xy) over x <= n and all y
//                              whole block: |n| - sum of pi(x) over x <= n
//   E max g    upper           mean of the largest g in the tree; whole block: plus the sum of p(x) pi(x)
//
// Cost: a check takes O(nodes of all trees) fractions.
//
// Correctness: a plan for one shot is a verifier (lp_oracle.hpp). For the prices: a feasible plan has
// a(xy) <= p(y|x) a(x), so E g(N) >= E|N| for the node N at which it stops, whatever the prices.
//
// Source: derived in docs/optimum.md, "Trees".
#pragma once

#include <string>

#include <draftproof/optimum/paths/tree_law.hpp>

namespace draftproof {

/// The knowledge of the verifier: the tree and the laws, or also the target's tokens.
enum class Sight {
  one_shot,     ///< a(xy) <= p(y|x) a(x)
  whole_block,  ///< a(x) <= p(x): the full-information bound
};

/// lower <= optimum <= upper, in accepted tokens a step; `stops` proves the lower and `prices` the upper bound.
struct TreeCertificate {
  Rational lower, upper;
  std::vector<std::vector<Rational>> stops;
  std::vector<Rational> prices;
};

/// Why the certificate does not prove lower <= optimum <= upper for this law; empty if it does.
std::string reject(const TreeLaw& law, Sight sight, const TreeCertificate& certificate);

/// Why `law` is not the law of a tree; empty if it is one.
std::string reject(const TreeLaw& law);

}  // namespace draftproof
