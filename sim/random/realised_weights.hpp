// The law that a draw from weights realises. A draw adds its weights up in some number format, and its law is given
// by the differences of the rounded sums.
//
//   for_each(visit)           the weights, as computed
//   for_each_realised(visit)  the law of `draw` under an ideal uniform; weights with exact sums lack this call
//
// Cost: one pass.
// Correctness: each for_each_realised reads the sums that `draw` of the same class compares with.
#pragma once

#include <algorithm>
#include <cstddef>

namespace draftproof {

/// Calls visit(token, weight) with the realised weights, or with the weights where their sums are exact.
template <class W, class Visit>
void visit_realised(const W& weights, const Visit& visit) {
  if constexpr (requires { weights.for_each_realised(visit); })
    weights.for_each_realised(visit);
  else
    weights.for_each(visit);
}

/// Calls visit(j, share) for low <= j <= high, with the length of the thresholds in [from, to) for which bisection
/// for the first j with bound(j) > threshold ends at j. Bounds that were rounded one by one may fall with j; the
/// result then depends on which of them the bisection reads, and this call follows it.
template <class Bound, class Visit>
void realise_bisection(std::size_t low, std::size_t high, double from, double to, const Bound& bound,
                       const Visit& visit) {
  if (!(from < to)) return;
  if (low == high) return visit(low, to - from);
  const std::size_t middle = low + (high - low) / 2;
  const double cut = bound(middle);
  realise_bisection(low, middle, from, std::min(to, cut), bound, visit);
  realise_bisection(middle + 1, high, std::max(from, cut), to, bound, visit);
}

}  // namespace draftproof
