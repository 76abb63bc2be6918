// The conjecture about a program on one input: which draw is made at each place, and which of its values the program
// treats alike.
//
//   node     one draw (a race is one draw of several places)
//   branch   values of the draw that lead to one subtree or outcome; its share is their probability
//   mass     product of the shares on the way from the root
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <draftproof/doors/explorer/run_store.hpp>
#include <draftproof/doors/explorer/sequence.hpp>

namespace draftproof::doors {

/// What a branch or the tree leads to.
struct Target {
  enum class Kind : std::uint8_t { node, outcome, unexplored };
  Kind kind = Kind::unexplored;
  std::uint32_t id = 0;  ///< of a node, or of an outcome in the RunStore

  bool operator==(const Target&) const = default;
};

struct TreeBranch {
  std::uint64_t first = 0, last = 0;  ///< grid values of a coin or an integer; of a pick or race: its first entry
  std::uint64_t chosen = 0;           ///< the value that its subtree was explored with
  double share = 0;
  Target target{};
};

/// Places that a draw takes: the entries of a race, 1 of all others.
int places_of(const Draw& draw);
/// True for a draw with an ordered grid of equally likely values: a coin, an integer, a lone clock.
bool has_grid(const Draw& draw);
/// Number of values of a draw: grid values, cells, entries. A lone clock has 2^24.
std::uint64_t values_of(const Draw& draw);
/// The sum of a pick's weights, or 0 if it has none that can be drawn from (not finite, negative, all zero).
double drawable_total(const Draw& draw);

struct TreeNode {
  Draw draw{};
  std::uint32_t draw_id = 0;  ///< in the RunStore
  int place = 0;
  std::vector<TreeBranch> branches{};  ///< by `first`
  std::vector<int> branch_of{};        ///< branch of each cell of a pick or entry of a race; -1: weight 0
  std::vector<double> weights{};       ///< of a race's entries, relative
  double race_error = 0;               ///< bound on the relative error of the weights
  bool explored = false;

  /// The branch that tape values take from this node's place on, or -1 where rounding decides: a value within
  /// 2^-20 of the end of a cell, clocks within 2^-16 of a tie.
  int branch_at(const Sequence& sequence) const;
};

struct DecisionTree {
  std::vector<TreeNode> nodes{};  ///< nodes that nothing leads to are left over from refinements
  Target root{};

  enum class Fit { right, wrong, unexplored, unclear };
  /// Compares a run on `sequence` with the tree: its outcome, and the draw at every place, weights included.
  Fit compare(const RunStore& store, const Sequence& sequence, RunStore::Chain run) const;
};

}  // namespace draftproof::doors
