// A batch of steps as a kernel receives it: for each request a drafted tree, and the rows of both models at its
// nodes, with strides so that an engine's own buffers can be used in place.
//
//   field       shape                meaning
//   trees       [B]                  where the tree of a request lies in `nodes` and `draws` (tree_batch.hpp)
//   target      [rows, V]            target rows, `target_stride` entries apart
//   proposal    [rows, V]            the rows that a node's children were drawn from, `proposal_stride` apart
//   row of u    first_row + context(u)
//   steps    [B]                  written: accepted node and extra token
//   carries     [B]                  read and written by schemes that carry state (conditionals.hpp), by no other
//
// The proposal row of a node without children is read only where a scheme carries state: elsewhere it need not hold
// numbers, but its place counts.
#pragma once

#include <cstdint>

#include <draftproof/gpu/row_view.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>
#include <draftproof/sim/trees/tree_view.hpp>

namespace draftproof::gpu {

/// A tree within the arrays of a batch. Its nodes number each other from its own first node on.
struct TreeSpan {
  std::int64_t first_node = 0, first_draw = 0, first_row = 0;
  std::int32_t size = 0, length = 0;
};

/// State of one request between iterations: empty at first.
using DeviceCarry = FixedList<PendingResidual<double>, max_path_length>;

/// Views in host or in device memory, as the function that takes it says; strides in entries. Request i is trial
/// `first_trial` + i of `seed`. Rows are probabilities that sum to 1 within the rounding of Entry.
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

  DRAFTPROOF_DEVICE TreeView tree(std::int64_t i) const {
    const TreeSpan& span = trees[i];
    return {nodes + span.first_node, draws + span.first_draw, span.size, span.length};
  }
  /// Rows of request i after context c; without a proposal, the target in its place.
  DRAFTPROOF_DEVICE RowView<Entry> rows(std::int64_t i, int c, bool with_proposal = true) const {
    const std::int64_t row = trees[i].first_row + c;
    const Entry* const p = target + row * target_stride;
    return {p, with_proposal ? proposal + row * proposal_stride : p, vocabulary, 1, 0};
  }
};

}  // namespace draftproof::gpu
