// Bounds on the optimum for one draft of each of K different proposals, at any V. No single order of the tokens
// contains every least cut. A scan bounds the optimum from both sides; where single heavy tokens keep the bounds
// apart, the search branches on them.
//
//   q_k        proposal(x, k)
//   l          weights             positive, product 1
//   r          mixture             (l_1 q_1 + .. + l_K q_K) / K
//   upper      p(S) + 1 - q_1(S) .. q_K(S) for any S: the best prefix of the order of p / r
//   lower      min over all S of p(S) + 1 - min(1, r(S)^K), for any l: a prefix of the same order
//
// Cost: O(V (K + log V)) a scan; a few scans, a few hundred at worst.
//
// Correctness: a product is at most the power of the mean of its factors, also with weights of product 1. Both are
// equal at a set where the weighted factors agree; the iteration searches for such weights.
//
// Source: derived in docs/optimum.md.
#pragma once

#include <draftproof/optimum/law_optimum.hpp>

namespace draftproof {

/// Bounds for draft k of proposal k, k < `drafts`. They include rounding errors.
OptimumBounds independent_bounds(const RatioTable& table, int drafts);

}  // namespace draftproof
