// Bounds on the optimum for one draft of each of K different proposals, at any V. No order of the tokens holds every
// least cut here; a scan bounds it from both sides, and where single heavy tokens keep the sides apart the search
// branches on them.
//
//   q_k        proposal(x, k)
//   l          weights             positive, product 1
//   r          mixture             (l_1 q_1 + .. + l_K q_K) / K
//   upper      p(S) + 1 - q_1(S) .. q_K(S) for any S: the best prefix of the order of p / r
//   lower      min over all S of p(S) + 1 - min(1, r(S)^K), for any l: a prefix of the same order
//
// Cost: O(V (K + log V)) a scan; a few scans, a few hundred at worst. Source: derived in docs/optimum.md. Right
// because a product is at most the power of the mean of its factors, weighted so that they multiply to the same; both
// are equal at a set where the weighted factors agree, which is what the iteration looks for.
#pragma once

#include <draftproof/optimum/law_optimum.hpp>

namespace draftproof {

/// Bounds for draft k of proposal k, k < `drafts`; rounding errors included.
OptimumBounds independent_bounds(const RatioTable& table, int drafts);

}  // namespace draftproof
