// From a decision tree to a law: masses of outcomes, edges, and the limit on the deviation of a float program.
#pragma once

#include <draftproof/doors/explorer/decision_tree.hpp>
#include <draftproof/doors/explorer/program_law.hpp>

namespace draftproof::doors {

/// Writes outcomes, unexplored, limit, edges, stretches, leaves, most_places and idle_places of `law`.
///
/// Masses are compensated sums of products of shares. A share of a coin is exact; where all draws of a path are
/// coins, its mass is exact up to 53 bits in all, and rounded once for each further coin.
void read_law(const DecisionTree& tree, const RunStore& store, int vocabulary, int dtype_bits, bool keep_stretches,
              ProgramLaw& law);

/// The largest sum, over paths from the root to a leaf, of what each draw allows:
///
///   draw               allows
///   coin, lone clock   c (2^-bits + V 2^-dtype_bits), c comparisons: wide stretches less one
///   pick               V 2^-dtype_bits
///   race               V 2^-dtype_bits, and the error of the weights
///   integer            0
///
/// Correctness: moving one threshold by one grid value moves that value's mass, 2^-bits, from one subtree to another,
/// a total variation of at most 2^-bits. A threshold or weight is at most a sum of V terms of relative error
/// 2^-dtype_bits; a normalisation by a small total is reached with that total's probability, so its error is not
/// larger than that of the sum. Total variations add along a path. A stretch is wide if it has more than two values:
/// a narrow one is an edge, which has its own report and excuses nothing.
double deviation_limit(const DecisionTree& tree, int vocabulary, int dtype_bits);

}  // namespace draftproof::doors
