// The optimum of one drafted path in closed form, with its certificate in fractions: what block verification reaches.
//
//   q(x)     chance that the path runs through x
//   a(xy)    min(q(xy), p(y|x) a(x)), a() = 1: what may be accepted
//   V(x)     1 + sum of p(y|x) V(xy) over the y with p(y|x) a(x) < q(xy): what one more unit of a(x) would gain
//   pi(xy)   V(xy) for those y, 0 for the others: the price of the limit
//
// Cost: O(prefixes + nodes of all paths). Source: Sun et al. 2025, arXiv:2403.10444, for the rule; the prices are
// derived here and checked on every certificate.
// Right because lower == upper: stops of block verification reach the sum of a, and the prices prove no more.
#pragma once

#include <draftproof/optimum/paths/tree_certificate.hpp>

namespace draftproof {

/// For Sight::one_shot; lower == upper. Throws std::invalid_argument if a tree is not a path.
TreeCertificate block_optimum(const TreeLaw& law);

}  // namespace draftproof
