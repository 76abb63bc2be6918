// The drafted tokens of one step as the tree of their prefixes. Equal prefixes are one node. The tree keeps every
// draw of a node, because rules for i.i.d. drafts count repeats and rules without replacement need the draw order.
//
//   reading    tree_view.hpp   the same calls as for trees in other memory
//   draw(..)                   adds one drafted token
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <draftproof/sim/trees/tree_view.hpp>

namespace draftproof {

class DraftTree : public TreeReading<DraftTree> {
 public:
  explicit DraftTree(int context = 0) { clear(context); }

  /// Makes the tree empty, with its root at `context`. Keeps its memory.
  void clear(int context) {
    nodes_.clear();
    draws_.clear();
    length_ = 0;
    nodes_.push_back({.token = no_token, .parent = -1, .depth = 0, .context = context});
  }

  /// Records that `x` was drafted after `parent`, from `stream` of the shared noise, and leads to `context`. Returns
  /// the node of x.
  int draw(int parent, Token x, int context, std::uint32_t stream = 0) {
    int child = find(parent, x);
    if (child < 0) {
      child = size();
      nodes_.push_back({.token = x, .parent = parent, .depth = node(parent).depth + 1, .context = context});
      append_child(parent, child);
      if (node(child).depth > length_) length_ = node(child).depth;
    }
    append_draw(parent, child, stream);
    return child;
  }

  /// Number of nodes, the root included.
  int size() const { return static_cast<int>(nodes_.size()); }
  /// Number of tokens of the longest path.
  int length() const { return length_; }
  const TreeNode& node_at(int u) const { return nodes_[static_cast<std::size_t>(u)]; }
  const TreeDraw& draw_at(int i) const { return draws_[static_cast<std::size_t>(i)]; }
  /// The arrays that a TreeView reads.
  std::span<const TreeNode> nodes() const { return nodes_; }
  std::span<const TreeDraw> all_draws() const { return draws_; }

 private:
  TreeNode& node(int u) { return nodes_[static_cast<std::size_t>(u)]; }

  void append_child(int parent, int child) {
    TreeNode& u = node(parent);
    if (u.first_child < 0)
      u.first_child = child;
    else
      node(u.last_child).next_sibling = child;
    u.last_child = child;
  }
  void append_draw(int parent, int child, std::uint32_t stream) {
    TreeNode& u = node(parent);
    const int draw = static_cast<int>(draws_.size());
    draws_.push_back({child, -1, stream});
    if (u.first_draw < 0)
      u.first_draw = draw;
    else
      draws_[static_cast<std::size_t>(u.last_draw)].next = draw;
    u.last_draw = draw;
    ++u.draw_count;
  }

  std::vector<TreeNode> nodes_;
  std::vector<TreeDraw> draws_;
  int length_ = 0;
};

/// The shape of a tree that a drafter grows.
struct TreeShape {
  int drafts = 1;                ///< K: paths, children of a node, or nodes in all, depending on the drafter
  int length = 1;                ///< L: tokens of a path
  std::vector<int> branching{};  ///< children of a node at depth 0, 1, ..; empty: `drafts` at each depth
  int stem = 0;                  ///< tokens drafted before the paths separate

  int children_at(int depth) const { return branching.empty() ? drafts : branching[static_cast<std::size_t>(depth)]; }
  bool operator==(const TreeShape&) const = default;
};

}  // namespace draftproof
