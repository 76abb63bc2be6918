// Read access to a drafted tree in any memory: a DraftTree that grows, or arrays owned elsewhere, on a device too.
//
//   u          node                 0 is the root, the context itself; parents come before their children
//              depth(u), token(u)   number of drafted tokens on the way to u; the last of them
//              context(u)           number of the context after u (conditional_model.hpp)
//              children(u)          distinct children in order of first appearance
//              draws(u)             drafted children in draw order, repeats kept; each with the stream of the shared
//                                   noise of its draw, if any
//   L          length()             drafted tokens of the longest path
//
// Cost: one link a child or draw. Links are indices, not addresses, so a tree can be copied to another memory.
#pragma once

#include <cstdint>

#include <draftproof/sim/token.hpp>

namespace draftproof {

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

/// Base of `Tree`, a class with node_at(u), draw_at(i), size() and length().
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

  /// The child of `u` for token `x`, or -1.
  DRAFTPROOF_DEVICE int find(int u, Token x) const {
    for (int child = node(u).first_child; child >= 0; child = node(child).next_sibling)
      if (node(child).token == x) return child;
    return -1;
  }

  /// The node of the first `depth` tokens on the way to `u`.
  DRAFTPROOF_DEVICE int ancestor(int u, int depth) const {
    while (node(u).depth > depth) u = node(u).parent;
    return u;
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
#pragma nv_exec_check_disable  // of a DraftTree, which only the host reads
#endif
  DRAFTPROOF_DEVICE const TreeNode& node(int u) const { return self().node_at(u); }
};

/// A tree in arrays that are owned elsewhere.
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

}  // namespace draftproof
