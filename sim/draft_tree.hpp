// The drafted tokens of one iteration, as the tree they merge into. Equal prefixes are one node; every draw that made
// it is remembered, because rules for i.i.d. drafts count repeats and rules without replacement need the draw order.
//
//   u          node                 0 is the root, the context itself; parents come before their children
//              depth(u), token(u)   drafted tokens on the way to u; the last of them
//              context(u)           where the laws after u are found (contexts.hpp)
//              children(u)          distinct children in order of first appearance
//              draws(u)             drafted children in draw order, repeats kept; each with the stream of shared
//              noise
//                                   that it was drawn from, if any
//   L          length()             drafted tokens of the longest path
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <draftproof/sim/token.hpp>

namespace draftproof {

class DraftTree {
 public:
  static constexpr int root = 0;

  explicit DraftTree(int context = 0) { clear(context); }

  /// Nothing drafted after `context`. Keeps its memory.
  void clear(int context) {
    nodes_.clear();
    draws_.clear();
    length_ = 0;
    nodes_.push_back({.token = no_token, .parent = -1, .depth = 0, .context = context});
  }

  /// Records that `x` was drafted after `parent`, where it leads to `context`. Returns its node.
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

  int size() const { return static_cast<int>(nodes_.size()); }
  int length() const { return length_; }
  int depth(int u) const { return node(u).depth; }
  int parent(int u) const { return node(u).parent; }
  Token token(int u) const { return node(u).token; }
  int context(int u) const { return node(u).context; }
  bool leaf(int u) const { return node(u).first_child < 0; }
  int draw_count(int u) const { return node(u).draw_count; }

  /// The child of `u` that `x` leads to, or -1.
  int find(int u, Token x) const {
    for (int child = node(u).first_child; child >= 0; child = node(child).next_sibling)
      if (node(child).token == x) return child;
    return -1;
  }

  /// Node of the first `depth` tokens on the way to `u`.
  int ancestor(int u, int depth) const {
    while (node(u).depth > depth) u = node(u).parent;
    return u;
  }

  class Children {
   public:
    struct Iterator {
      const DraftTree* tree;
      int child;
      int operator*() const { return child; }
      Iterator& operator++() {
        child = tree->node(child).next_sibling;
        return *this;
      }
      bool operator==(const Iterator& other) const { return child == other.child; }
    };
    Children(const DraftTree& tree, int first) : tree_{tree}, first_{first} {}
    Iterator begin() const { return {&tree_, first_}; }
    Iterator end() const { return {&tree_, -1}; }

   private:
    const DraftTree& tree_;
    int first_;
  };
  Children children(int u) const { return {*this, node(u).first_child}; }

  class Draws {
   public:
    struct Iterator {
      const DraftTree* tree;
      int draw;
      int operator*() const { return tree->draws_[static_cast<std::size_t>(draw)].child; }
      std::uint32_t stream() const { return tree->draws_[static_cast<std::size_t>(draw)].stream; }
      Iterator& operator++() {
        draw = tree->draws_[static_cast<std::size_t>(draw)].next;
        return *this;
      }
      bool operator==(const Iterator& other) const { return draw == other.draw; }
    };
    Draws(const DraftTree& tree, int first) : tree_{tree}, first_{first} {}
    Iterator begin() const { return {&tree_, first_}; }
    Iterator end() const { return {&tree_, -1}; }

   private:
    const DraftTree& tree_;
    int first_;
  };
  Draws draws(int u) const { return {*this, node(u).first_draw}; }

 private:
  struct Node {
    Token token;
    int parent, depth, context;
    int first_child = -1, last_child = -1, next_sibling = -1;
    int first_draw = -1, last_draw = -1, draw_count = 0;
  };
  struct Draw {
    int child, next;
    std::uint32_t stream;
  };

  const Node& node(int u) const { return nodes_[static_cast<std::size_t>(u)]; }
  Node& node(int u) { return nodes_[static_cast<std::size_t>(u)]; }

  void append_child(int parent, int child) {
    Node& u = node(parent);
    if (u.first_child < 0)
      u.first_child = child;
    else
      node(u.last_child).next_sibling = child;
    u.last_child = child;
  }
  void append_draw(int parent, int child, std::uint32_t stream) {
    Node& u = node(parent);
    const int draw = static_cast<int>(draws_.size());
    draws_.push_back({child, -1, stream});
    if (u.first_draw < 0)
      u.first_draw = draw;
    else
      draws_[static_cast<std::size_t>(u.last_draw)].next = draw;
    u.last_draw = draw;
    ++u.draw_count;
  }

  std::vector<Node> nodes_;
  std::vector<Draw> draws_;
  int length_ = 0;
};

/// How a tree drafter grows its tree.
struct TreeShape {
  int drafts = 1;                ///< K: paths, children of a node, or nodes in all, as the drafter says
  int length = 1;                ///< L: tokens of a path
  std::vector<int> branching{};  ///< children of a node at depth 0, 1, ..; empty: `drafts` at each
  int stem = 0;                  ///< tokens drafted before the paths part

  int children_at(int depth) const { return branching.empty() ? drafts : branching[static_cast<std::size_t>(depth)]; }
  bool operator==(const TreeShape&) const = default;
};

}  // namespace draftproof
