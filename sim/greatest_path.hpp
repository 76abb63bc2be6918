// The greatest of the paths drafted below a node, as the steps of a block: verify_block (block_rule.hpp) with the row
// each of its tokens truly has, in place of q.
//
//   fan          K paths from a node; it opens where more paths start than arrive, as at the end of a stem
//   row(i)       law of token i + 1 given the i before: skewed (token_order.hpp) in a fan, q itself on a single path
//   choose       choose(order, u) -> child of u. Theirs is the greatest by the order the row was made with
//
// Cost: one skewed row a token. The choice never looks below the point where two paths part: what follows there is a
// fresh draw of q, whatever was chosen.
#pragma once

#include <cstddef>
#include <vector>

#include <draftproof/sim/block_rule.hpp>
#include <draftproof/sim/token_order.hpp>

namespace draftproof {

/// The child of u that the order puts on top.
struct ChooseGreatest {
  template <class L>
  int operator()(const TreeAt<L>& at, const TokenOrder<L>& order, int u) const {
    int greatest = -1;
    for (const int child : at.tree().children(u))
      if (greatest < 0 || order.above(at.tree().token(child), at.tree().token(greatest))) greatest = child;
    return greatest;
  }
};

template <class L>
class GreatestPath : public PlainSteps<L> {
 public:
  using Scalar = typename L::Scalar;

  template <class Choose = ChooseGreatest>
  GreatestPath(const TreeAt<L>& at, int start, Choose choose = {}) : PlainSteps<L>(at, start) {
    const DraftTree& tree = at.tree();
    Fan<Scalar> fan{tree.draw_count(start)};
    for (int u = start; !tree.leaf(u);) {
      int child = *tree.children(u).begin();
      rows_.emplace_back();
      if (fan.paths > 1) {
        const TokenOrder<L> order(at.laws(u));
        child = choose(at, order, u);
        rows_.back() = order.law(fan);
        fan = order.after(fan, tree.token(child));
      }
      int arriving = 0;
      for (const int drawn : tree.draws(u)) arriving += drawn == child;
      if (tree.draw_count(child) > arriving) fan = {tree.draw_count(child)};
      this->append(child);
      u = child;
    }
  }

  Scalar proposal(int i) const { return skewed(i) ? entry(i, this->token(i)) : PlainSteps<L>::proposal(i); }
  Scalar excess(int i, const Scalar& c) const {
    if (!skewed(i)) return PlainSteps<L>::excess(i, c);
    return this->laws(i).sum([this, i, &c](Token x) { return above(i, c, x); });
  }
  auto correction(int i, const Scalar& c) const {
    const bool plain = !skewed(i);
    const Scalar b = this->one() / c;
    return this->laws(i).weights([this, i, c, b, plain](Token x) {
      if (!plain) return above(i, c, x);
      const Scalar left = this->laws(i).target(x) - b * this->laws(i).proposal(x);
      return left > this->zero() ? left : this->zero();
    });
  }

 private:
  bool skewed(int i) const { return !rows_[static_cast<std::size_t>(i)].empty(); }
  const Scalar& entry(int i, Token x) const {
    return rows_[static_cast<std::size_t>(i)][static_cast<std::size_t>(x)];
  }
  Scalar above(int i, const Scalar& c, Token x) const {
    const Scalar left = c * this->laws(i).target(x) - entry(i, x);
    return left > this->zero() ? left : this->zero();
  }

  std::vector<std::vector<Scalar>> rows_;
};

}  // namespace draftproof
