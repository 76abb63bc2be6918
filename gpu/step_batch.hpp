// A batch of steps in a kernel's memory: for each request a drafted tree and the rows of both models at its nodes.
// Strides let a kernel use an engine's own buffers in place.
//
//   field       shape                meaning
//   trees       [B]                  spans of each request's tree in `nodes` and `draws` (tree_batch.hpp)
//   target      [rows, V]            target rows, `target_stride` entries apart
//   proposal    [rows, V]            the rows that a node's children were drawn from, `proposal_stride` apart
//   row of u    first_row + context(u)
//   steps       [B]                  written: accepted node and extra token
//   carries     [B]                  read and written by schemes that carry state only (conditional_model.hpp)
//
// The proposal row of a node without children is read only by a scheme that carries state from one iteration to the
// next. For other schemes its entries may be anything, but the row must be present.
#pragma once

#include <cstdint>

#include <draftproof/gpu/row_view.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>
#include <draftproof/sim/trees/draft_tree.hpp>

namespace draftproof::gpu {

/// The location of a tree in the arrays of a batch. In `nodes` and `draws`, node 0 is the tree's first node.
struct TreeSpan {
  std::int64_t first_node = 0, first_draw = 0, first_row = 0;
  std::int32_t size = 0, length = 0;
};

/// State of one request between iterations; empty at first.
using DeviceCarry = FixedList<PendingResidual<double>, max_path_length>;

/// The views are in host or in device memory, as the function that takes the batch requires. Strides are in entries.
/// Request i uses the random bits of trial `first_trial` + i of `seed`. Rows are probabilities of type Entry that sum
/// to 1 up to rounding.
template <class Entry>
struct StepBatch {
  int requests = 0;    ///< B
  int vocabulary = 0;  ///< V
  const TreeSpan* trees = nullptr;
  const TreeNode* nodes = nullptr;
  const TreeDraw* draws = nullptr;
  const Entry* target = nullptr;
  std::int64_t target_stride = 0;
  const Entry* proposal = nullptr;
  std::int64_t proposal_stride = 0;
  std::uint64_t seed = 0, first_trial = 0;
  StepOutput* steps = nullptr;
  DeviceCarry* carries = nullptr;

  /// The tree of request i, as a view without a copy.
  DRAFTPROOF_DEVICE TreeView tree(std::int64_t i) const {
    const TreeSpan& span = trees[i];
    return {nodes + span.first_node, draws + span.first_draw, span.size, span.length};
  }
  /// The rows of request i after context c. If `with_proposal` is false, the target row takes the place of the proposal
  /// row, which is then not read.
  DRAFTPROOF_DEVICE RowView<Entry> rows(std::int64_t i, int c, bool with_proposal = true) const {
    const std::int64_t row = trees[i].first_row + c;
    const Entry* const p = target + row * target_stride;
    return {p, with_proposal ? proposal + row * proposal_stride : p, vocabulary, 1, 0};
  }
};

}  // namespace draftproof::gpu
