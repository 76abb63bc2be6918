// The drafted trees of a batch of requests in a device's layout: all nodes in one array and all draws in another.
// Trees come from a DraftTree or from an engine's arrays of drafted tokens; both are checked.
//
//   entry e     drafted token e in draw order, from 0; -1 stands for the root
//   node        equal tokens after the same node share one node, named after the first; every entry is a draw
//   row         of the root: first_row; of entry e: first_row + 1 + e (the first equal entry's row is read)
//
// Cost: O(nodes) per batch, on the host.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <draftproof/gpu/step_batch.hpp>
#include <draftproof/sim/trees/draft_tree.hpp>

namespace draftproof::gpu {

class TreeBatch {
 public:
  explicit TreeBatch(int vocabulary) : vocabulary_{vocabulary} {}

  /// Adds a tree whose node u has its rows at first_row + context(u). Returns the number of its request.
  /// Throws: std::invalid_argument with the request and the node; the batch is then unchanged.
  int add(const DraftTree& tree, std::int64_t first_row);
  /// Adds a tree of entries: token e was drafted after entry parents[e] < e, from stream streams[e] of the shared
  /// noise if `streams` is not empty. Returns the number of its request.
  /// Throws: std::invalid_argument with the request and the entry or node; the batch is then unchanged.
  int add(std::span<const Token> tokens, std::span<const std::int32_t> parents, std::int64_t first_row,
          std::span<const std::uint32_t> streams = {});

  int requests() const { return static_cast<int>(spans_.size()); }
  std::span<const TreeSpan> trees() const { return spans_; }
  std::span<const TreeNode> nodes() const { return nodes_; }
  std::span<const TreeDraw> draws() const { return draws_; }
  /// Number of rows that the trees refer to: one more than the index of the last row.
  std::int64_t rows() const { return rows_; }

  /// Points `batch` to these trees. The pointers are valid until the next add() or the end of this object.
  template <class Entry>
  void show(StepBatch<Entry>& batch) const {
    batch.requests = requests();
    batch.vocabulary = vocabulary_;
    batch.trees = spans_.data();
    batch.nodes = nodes_.data();
    batch.draws = draws_.data();
  }

 private:
  [[noreturn]] void refuse(const std::string& where, std::int64_t place, const std::string& what, std::int64_t found,
                           const std::string& wanted) const;
  void check(const DraftTree& tree, std::int64_t first_row) const;

  int vocabulary_;
  std::int64_t rows_ = 0;
  std::vector<TreeSpan> spans_;
  std::vector<TreeNode> nodes_;
  std::vector<TreeDraw> draws_;
};

}  // namespace draftproof::gpu
