// The law that a draw from weights really has, beside the weights it was asked for. A draw adds its weights up in
// some number format, and what it serves are the differences of those sums.
//
//   for_each(visit)         the weights, as computed
//   for_each_realised(visit)  what `draw` serves under an ideal uniform; weights whose sums are exact do not offer it
//
// Cost: that of one pass. Right because each for_each_realised reads the sums that `draw` of the same class compares
// with.
#pragma once

#include <algorithm>
#include <cstddef>

namespace draftproof {

template <class W, class Visit>
void visit_served(const W& weights, Visit& visit) {
  if constexpr (requires { weights.for_each_realised(visit); })
    weights.for_each_realised(visit);
  else
    weights.for_each(visit);
}

/// What a bisection sends to each of low .. high: it looks for the first j with bound(j) > threshold, and thresholds
/// fill [from, to) evenly. Bounds that were rounded one by one need not rise with j; what then decides is which of
/// them the bisection meets. Calls visit(j, share).
template <class Bound, class Visit>
void serve_bisection(std::size_t low, std::size_t high, double from, double to, const Bound& bound,
                     const Visit& visit) {
  if (!(from < to)) return;
  if (low == high) return visit(low, to - from);
  const std::size_t middle = low + (high - low) / 2;
  const double cut = bound(middle);
  serve_bisection(low, middle, from, std::min(to, cut), bound, visit);
  serve_bisection(middle + 1, high, std::max(from, cut), to, bound, visit);
}

}  // namespace draftproof
