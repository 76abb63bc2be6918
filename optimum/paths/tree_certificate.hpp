// Bounds on the tokens that verifiers of a drafted tree accept, with their proofs: a plan that shows what is reached,
// and a price for every prefix that shows what is not exceeded. The check is in fractions and uses no solver, so a
// certificate is worth what its checker is worth.
//
//   w(T, n)    stops[t][j]     probability that tree T is drafted and node n = trees[t].nodes[j] is where it stops
//   a(x)                       sum of w over all nodes at x or below: the chance to accept x
//   sum |n| w  lower           what the plan accepts
//   pi(x)      prices[i]       price of accepting prefix x, at least 0; that of the empty prefix is 0
//   g(n)                       one shot: |n| - sum of pi(x) over x <= n + sum of p(y|x) pi(xy) over x <= n and all y
//                              whole block: |n| - sum of pi(x) over x <= n
//   E max g    upper           mean of the largest g in the tree; whole block: plus the sum of p(x) pi(x)
//
// Cost of a check: O(nodes of all trees) fractions. Source: derived in docs/optimum.md, "Trees".
// Why plans prove: a plan of one shot is a verifier (lp_oracle.hpp). Why prices prove: a feasible plan has
// a(xy) <= p(y|x) a(x), so E g(N) >= E|N| for the node N at which it stops, whatever the prices.
#pragma once

#include <string>

#include <draftproof/optimum/paths/tree_law.hpp>

namespace draftproof {

/// What the verifier knows: the tree and the laws, or also which tokens the target will say.
enum class Sight {
  one_shot,     ///< a(xy) <= p(y|x) a(x)
  whole_block,  ///< a(x) <= p(x): nothing but the full-information bound
};

struct TreeCertificate {
  Rational lower, upper;
  std::vector<std::vector<Rational>> stops;
  std::vector<Rational> prices;
};

/// Why the certificate does not prove lower <= optimum <= upper for this law; empty if it does.
std::string reject(const TreeLaw& law, Sight sight, const TreeCertificate& certificate);

/// Why this is not the law of a tree; empty if it is one.
std::string reject(const TreeLaw& law);

}  // namespace draftproof
