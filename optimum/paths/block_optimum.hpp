// The optimum of one drafted path in closed form, with its certificate in fractions. Block verification reaches it.
//
//   q(x)     probability that the path runs through x
//   a(xy)    min(q(xy), p(y|x) a(x)), a() = 1: the probability of accepting xy
//   V(x)     1 + sum of p(y|x) V(xy) over the y with p(y|x) a(x) < q(xy): the gain of one more unit of a(x)
//   pi(xy)   V(xy) for those y, 0 for the others: the price of the limit
//
// Cost: O(prefixes + nodes of all paths).
//
// Correctness: lower == upper. The stops of block verification reach the sum of a, and the prices prove the same
// upper bound.
//
// Source: Sun et al. 2025, arXiv:2403.10444, for the rule; the prices are derived here and checked on every
// certificate.
#pragma once

#include <draftproof/optimum/paths/tree_certificate.hpp>

namespace draftproof {

/// The certificate for Sight::one_shot, with lower == upper. Throws: std::invalid_argument if a tree is not a path.
TreeCertificate block_optimum(const TreeLaw& law);

}  // namespace draftproof
