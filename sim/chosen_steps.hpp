// The path that ladders chose, as block verification reads it (block_rule.hpp): the law the chosen path truly has is
// its proposal. Cost: O(1) a token, one pass over the vocabulary an excess or a correction.
#pragma once

#include <draftproof/sim/block_rule.hpp>
#include <draftproof/sim/ladder_node.hpp>

namespace draftproof {

template <class L>
class ChosenSteps {
 public:
  using Scalar = typename L::Scalar;

  explicit ChosenSteps(const TreeAt<L>& at) : at_{at} {}

  void append(const LadderNode<L>& ladder, int child) {
    ladders_[length_] = &ladder;
    nodes_[++length_] = child;
  }

  int length() const { return length_; }
  int node(int i) const { return nodes_[i]; }
  const L& laws(int i) const { return at_.laws(nodes_[i]); }
  Token token(int i) const { return at_.tree().token(nodes_[i + 1]); }
  Scalar zero() const { return laws(0).zero(); }
  Scalar one() const { return laws(0).one(); }

  Scalar target(int i) const { return laws(i).target(token(i)); }
  Scalar proposal(int i) const { return ladders_[i]->chosen(laws(i), token(i)); }
  Scalar excess(int i, const Scalar& c) const { return laws(i).sum(left(i, c)); }
  auto correction(int i, const Scalar& c) const { return laws(i).weights(left(i, c)); }
  auto bonus() const { return laws(length_).residual(zero()); }

 private:
  auto left(int i, const Scalar& c) const {
    return [&laws = laws(i), ladder = ladders_[i], c](Token y) { return ladder->above(laws, y, c); };
  }

  const TreeAt<L>& at_;
  int length_ = 0;
  int nodes_[max_path_length + 1] = {DraftTree::root};
  const LadderNode<L>* ladders_[max_path_length];
};

}  // namespace draftproof
