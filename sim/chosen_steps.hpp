// The path that ladders chose, as block verification reads it (block_rule.hpp): the law the chosen path truly has is
// its proposal. Cost: O(1) a token, O(log V) an excess or a correction from the node's table; laws in buckets are
// made for one look and take a pass instead.
#pragma once

#include <draftproof/sim/block_rule.hpp>
#include <draftproof/sim/ladder_node.hpp>
#include <draftproof/sim/token_ranking.hpp>

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
  Scalar excess(int i, const Scalar& c) const {
    if constexpr (Ranked<L>)
      return ladders_[i]->left_over(laws(i)).excess(c);
    else
      return laws(i).sum(left(i, c));
  }
  auto correction(int i, const Scalar& c) const {
    if constexpr (Ranked<L>)
      return Correction{laws(i), *ladders_[i], c};
    else
      return laws(i).weights(left(i, c));
  }
  auto bonus() const { return laws(length_).residual(zero()); }

 private:
  struct Correction {
    const L& laws;
    const LadderNode<L>& ladder;
    Scalar c;

    Token draw(std::uint64_t word) const { return ladder.left_over(laws).draw(c, word); }
    template <class Visit>
    void for_each(Visit visit) const {
      ladder.left_over(laws).for_each(
          laws, [this](Token y) { return ladder.chosen(laws, y); }, c, visit);
    }
  };

  auto left(int i, const Scalar& c) const {
    return [&laws = laws(i), ladder = ladders_[i], c](Token y) { return ladder->above(laws, y, c); };
  }

  const TreeAt<L>& at_;
  int length_ = 0;
  int nodes_[max_path_length + 1] = {DraftTree::root};
  const LadderNode<L>* ladders_[max_path_length];
};

}  // namespace draftproof
