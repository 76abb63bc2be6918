// The law that a draw from weights really has, beside the weights it was asked for. A draw adds its weights up in
// some number format, and what it serves are the differences of those sums.
//
//   for_each(visit)         the weights, as computed
//   for_each_served(visit)  what `draw` serves under an ideal uniform; weights whose sums are exact do not offer it
//
// Cost: that of one pass. Right because each for_each_served reads the sums that `draw` of the same class compares
// with.
#pragma once

#include <draftproof/sim/token.hpp>

namespace draftproof {

template <class W, class Visit>
void visit_served(const W& weights, Visit& visit) {
  if constexpr (requires { weights.for_each_served(visit); })
    weights.for_each_served(visit);
  else
    weights.for_each(visit);
}

}  // namespace draftproof
