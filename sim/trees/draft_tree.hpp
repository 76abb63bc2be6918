// The drafted tokens of one step as the tree of their prefixes. Equal prefixes are one node. The tree stores every
// draw at a node, because verifiers of i.i.d. drafts count repeats, and verifiers of drafts without replacement need
// the draw order. DraftTree grows by draw(..); TreeView reads a tree in any memory, with the same read functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <draftproof/sim/token.hpp>

namespace draftproof {

// Read access to a drafted tree in any memory: a DraftTree, or arrays that another object owns, also on a device.
//
//   u          node                 0 is the root, the context itself; parents come before their children
//              depth(u), token(u)   number of drafted tokens from the root to u; the last of these tokens
//              context(u)           number of the context after u (conditional_model.hpp)
//              children(u)          distinct children in order of first appearance
//              draws(u)             drafted children in draw order, with repeats; each has the number of the stream of
//                                   shared noise that its draw read, if any
//   L          length()             drafted tokens of the longest path
//
// Cost: one link for each child and draw. Links are indices, not addresses, so a tree can be copied to other memory.

struct TreeNode {
  Token token;
  int parent, depth, context;
  int first_child = -1, last_child = -1, next_sibling = -1;
  int first_draw = -1, last_draw = -1, draw_count = 0;
};
struct TreeDraw {
  int child, next;
  std::uint32_t stream;
};

/// Base class of a tree class `Tree`, which must have node_at(u), draw_at(i), size() and length().
template <class Tree>
class TreeReading {
 public:
  static constexpr int root = 0;

  DRAFTPROOF_DEVICE int depth(int u) const { return node(u).depth; }
  DRAFTPROOF_DEVICE int parent(int u) const { return node(u).parent; }
  DRAFTPROOF_DEVICE Token token(int u) const { return node(u).token; }
  DRAFTPROOF_DEVICE int context(int u) const { return node(u).context; }
  DRAFTPROOF_DEVICE bool leaf(int u) const { return node(u).first_child < 0; }
  DRAFTPROOF_DEVICE int draw_count(int u) const { return node(u).draw_count; }

  /// Returns the child of `u` for token `x`, -1 if there is no such child.
  DRAFTPROOF_DEVICE int find(int u, Token x) const {
    for (int child = node(u).first_child; child >= 0; child = node(child).next_sibling)
      if (node(child).token == x) return child;
    return -1;
  }

  class Children {
   public:
    struct Iterator {
      const Tree* tree;
      int child;
      DRAFTPROOF_DEVICE int operator*() const { return child; }
      DRAFTPROOF_DEVICE Iterator& operator++() {
        child = tree->node_at(child).next_sibling;
        return *this;
      }
      DRAFTPROOF_DEVICE bool operator==(const Iterator& other) const { return child == other.child; }
    };
    Children() = default;
    DRAFTPROOF_DEVICE Children(const Tree* tree, int first) : tree_{tree}, first_{first} {}
    DRAFTPROOF_DEVICE Iterator begin() const { return {tree_, first_}; }
    DRAFTPROOF_DEVICE Iterator end() const { return {tree_, -1}; }

   private:
    const Tree* tree_;
    int first_;
  };
  DRAFTPROOF_DEVICE Children children(int u) const { return {&self(), node(u).first_child}; }

  class Draws {
   public:
    struct Iterator {
      const Tree* tree;
      int draw;
      DRAFTPROOF_DEVICE int operator*() const { return tree->draw_at(draw).child; }
      DRAFTPROOF_DEVICE std::uint32_t stream() const { return tree->draw_at(draw).stream; }
      DRAFTPROOF_DEVICE Iterator& operator++() {
        draw = tree->draw_at(draw).next;
        return *this;
      }
      DRAFTPROOF_DEVICE bool operator==(const Iterator& other) const { return draw == other.draw; }
    };
    DRAFTPROOF_DEVICE Draws(const Tree* tree, int first) : tree_{tree}, first_{first} {}
    DRAFTPROOF_DEVICE Iterator begin() const { return {tree_, first_}; }
    DRAFTPROOF_DEVICE Iterator end() const { return {tree_, -1}; }

   private:
    const Tree* tree_;
    int first_;
  };
  DRAFTPROOF_DEVICE Draws draws(int u) const { return {&self(), node(u).first_draw}; }

 private:
  DRAFTPROOF_DEVICE const Tree& self() const { return static_cast<const Tree&>(*this); }
#if defined(__CUDACC__)
#pragma nv_exec_check_disable  // DraftTree::node_at is a host function, of which nvcc would warn
#endif
  DRAFTPROOF_DEVICE const TreeNode& node(int u) const { return self().node_at(u); }
};

/// A tree in arrays that another object owns.
class TreeView : public TreeReading<TreeView> {
 public:
  DRAFTPROOF_DEVICE TreeView(const TreeNode* nodes, const TreeDraw* draws, int size, int length)
      : nodes_{nodes}, draws_{draws}, size_{size}, length_{length} {}

  DRAFTPROOF_DEVICE int size() const { return size_; }
  DRAFTPROOF_DEVICE int length() const { return length_; }
  DRAFTPROOF_DEVICE const TreeNode& node_at(int u) const { return nodes_[u]; }
  DRAFTPROOF_DEVICE const TreeDraw& draw_at(int i) const { return draws_[i]; }

 private:
  const TreeNode* nodes_;
  const TreeDraw* draws_;
  int size_, length_;
};

class DraftTree : public TreeReading<DraftTree> {
 public:
  explicit DraftTree(int context = 0) { clear(context); }

  /// Removes all nodes but the root, whose context becomes `context`. Keeps the memory.
  void clear(int context) {
    nodes_.clear();
    draws_.clear();
    length_ = 0;
    nodes_.push_back({.token = no_token, .parent = -1, .depth = 0, .context = context});
  }

  /// Adds a draw of `x` after `parent`, which read `stream` of the shared noise and leads to `context`. Returns the
  /// node of x.
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

  /// Returns the number of nodes, the root included.
  int size() const { return static_cast<int>(nodes_.size()); }
  /// Returns the number of tokens on the longest path.
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
  int drafts = 1;                ///< K: number of paths, of children of a node, or of nodes, depending on the drafter
  int length = 1;                ///< L: number of tokens on a path
  std::vector<int> branching{};  ///< number of children of a node at depth 0, 1, ..; empty: `drafts` at each depth
  int stem = 0;                  ///< number of tokens drafted before the paths separate
  int fixed = 0;                 ///< F: number of children that are the most probable tokens; the others are drawn
  int nodes = 0;                 ///< N: number of nodes of a pruned tree without the root; 0: no limit

  int children_at(int depth) const { return branching.empty() ? drafts : branching[static_cast<std::size_t>(depth)]; }
  bool operator==(const TreeShape&) const = default;
};

}  // namespace draftproof
