// The conjectured decision tree of a program on one input: the draw at each place of the tape, and which values of the
// draw the program treats alike. From the tree follow the program's distribution, and predictions for given random
// numbers.
//
//   node     one draw (a race is one draw of several places)
//   branch   values of the draw that lead to one subtree or outcome; its share is their probability
//   mass     product of the shares on the way from the root
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <draftproof/adapters/explorer/explore.hpp>
#include <draftproof/adapters/explorer/run_store.hpp>

namespace draftproof::adapters {

/// An endless sequence of random numbers: listed values, then values that are a function of seed and place.
struct Sequence {
  enum class Lean { none, low, high };

  std::uint64_t seed = 0;
  int bits = 24;           ///< values beyond the listed ones are multiples of 2^-bits
  Lean lean = Lean::none;  ///< whether the values at places below `leaning` that are not listed lie near 0 or near 1
  std::vector<double> values{};

  static constexpr std::size_t leaning = 48;  ///< limited, so that a program that draws until a number is small ends

  /// Returns 64 bits that depend on (seed, place) alone.
  std::uint64_t word(std::size_t place) const {
    std::uint64_t x = (seed + 1) * 0xA24BAED4963EE407u + (place + 1) * 0x9FB21C651E98DF25u;
    for (int round = 0; round < 3; ++round) x = (x ^ (x >> 31)) * 0xD6E8FEB86659FD93u;
    return x ^ (x >> 32);
  }
  /// Returns the value at a place, in [0, 1).
  double value(std::size_t place) const {
    if (place < values.size()) return values[place];
    const std::uint64_t k = word(place) >> (64 - bits), near = k >> (bits < 6 ? bits : 6);
    if (lean == Lean::none || place >= leaning) return std::ldexp(static_cast<double>(k), -bits);
    const std::uint64_t last = (std::uint64_t{1} << bits) - 1;
    return std::ldexp(static_cast<double>(lean == Lean::low ? near : last - near), -bits);
  }
};

/// The node or leaf to which a branch, or the tree as a whole, leads.
struct Target {
  enum class Kind : std::uint8_t { node, outcome, unexplored };
  Kind kind = Kind::unexplored;
  std::uint32_t id = 0;  ///< id of a node, or of an outcome in the RunStore

  bool operator==(const Target&) const = default;
};

struct TreeBranch {
  std::uint64_t first = 0, last = 0;  ///< grid values of a coin or integer; first entry of a pick or race
  std::uint64_t chosen = 0;           ///< value of the draw with which the branch's subtree was explored
  double share = 0;
  Target target{};
};

/// Returns how many numbers of the tape a draw reads: the number of entries of a race, 1 for other draws.
int places_of(const Draw& draw);
/// True for a draw with an ordered grid of equally likely values: a coin, an integer, or a lone clock (a race
/// with one entry).
bool has_grid(const Draw& draw);
/// Returns how many values a draw has: grid values, cells or entries. A lone clock has 2^24.
std::uint64_t values_of(const Draw& draw);
/// The sum of a pick's weights, or 0 if no token can be drawn (a weight is not finite or negative, or all are zero).
double drawable_total(const Draw& draw);

struct TreeNode {
  Draw draw{};
  std::uint32_t draw_id = 0;  ///< id of the draw in the RunStore
  int place = 0;
  std::vector<TreeBranch> branches{};  ///< sorted by `first`
  std::vector<int> branch_of{};        ///< branch of each cell of a pick or entry of a race; -1: weight 0
  std::vector<double> weights{};       ///< relative weights of a race's entries
  double race_error = 0;               ///< bound on the relative error of the weights
  bool explored = false;

  /// Returns the branch that tape values take, read from this node's place on. Returns -1 where rounding decides: for a
  /// value within 2^-20 of the end of a cell, and for clocks within 2^-16 of a tie.
  int branch_at(const Sequence& sequence) const;
};

struct DecisionTree {
  std::vector<TreeNode> nodes{};  ///< include nodes that refinements have disconnected from the root
  Target root{};

  enum class Fit { right, wrong, unexplored, unclear };
  /// Compares a run on `sequence` with the prediction of the tree: the outcome, and the draw at every place, including
  /// its weights.
  Fit compare(const RunStore& store, const Sequence& sequence, RunStore::Chain run) const;
};

// From a decision tree to a distribution: masses of outcomes, edges, and the limit on the deviation of a float
// program.

/// Writes outcomes, unexplored, limit, edges, stretches, leaves, most_places and idle_places of `distribution`.
///
/// The mass of an outcome is a compensated sum over paths; a path's mass is the product of the shares (probabilities)
/// of its branches. A share of a coin is exact. If all draws of a path are coins, the path's mass is exact while the
/// coins have at most 53 bits in all, and rounded once for each further coin.
void read_distribution(const DecisionTree& tree, const RunStore& store, int vocabulary, int dtype_bits,
                       bool keep_stretches, ProgramDistribution& distribution);

/// The largest sum, over paths from the root to a leaf, of the deviation that each draw allows:
///
///   draw               allows
///   coin, lone clock   c (2^-bits + V 2^-dtype_bits), where c comparisons separate c + 1 wide stretches
///   pick               V 2^-dtype_bits
///   race               V 2^-dtype_bits, and the error of the weights
///   integer            0
///
/// Correctness: moving one threshold by one grid value moves that value's mass, 2^-bits, from one subtree to another, a
/// total variation of at most 2^-bits. A threshold or weight is at most a sum of V terms of relative error
/// 2^-dtype_bits; a normalisation by a small total is reached with that total's probability, so its error is not larger
/// than the error of the sum. Total variations add along a path. A stretch is wide if it has more than two values: a
/// narrow one is an edge, which is reported separately and adds nothing to the limit.
double deviation_limit(const DecisionTree& tree, int vocabulary, int dtype_bits);

}  // namespace draftproof::adapters
