// The greatest of the paths drafted below a node, as the steps of a block: verify_block (block_rule.hpp) with the row
// each of its tokens truly has, in place of q.
//
//   fan          K paths from a node; it opens where more paths start than arrive, as at the end of a stem
//   row(i)       law of token i + 1 given the i before: skewed (greatest_row.hpp) in a fan, q itself on a single path
//   choose       choose(order, u) -> child of u. Theirs is the greatest by the order the row was made with
//
// Cost: O(K) a token of the path where single tokens are ranked, and an excess (greatest_row.hpp) a test. The choice
// never looks below the point where two paths part: what follows there is a fresh draw of q, whatever was chosen.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <draftproof/sim/block_rule.hpp>
#include <draftproof/sim/greatest_row.hpp>

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
    rows_.reserve(static_cast<std::size_t>(tree.length()));
    Fan<Scalar> fan{tree.draw_count(start)};
    for (int u = start; !tree.leaf(u);) {
      int child = *tree.children(u).begin();
      rows_.emplace_back();
      if (fan.paths > 1) {
        TokenOrder<L> order(at.laws(u));
        if (tree.draw_count(u) > 1) child = choose(at, order, u);
        rows_.back().emplace(at.laws(u), std::move(order), fan);
        fan = rows_.back()->after(tree.token(child));
      }
      int arriving = 0;
      for (const int drawn : tree.draws(u)) arriving += drawn == child;
      if (tree.draw_count(child) > arriving) fan = {tree.draw_count(child)};
      this->append(child);
      u = child;
    }
  }

  Scalar proposal(int i) const { return row(i) ? row(i)->law(this->token(i)) : PlainSteps<L>::proposal(i); }
  Scalar excess(int i, const Scalar& c) const { return row(i) ? row(i)->excess(c) : PlainSteps<L>::excess(i, c); }
  auto correction(int i, const Scalar& c) const { return Correction{*this, i, c}; }

 private:
  using Row = std::optional<GreatestRow<L>>;

  struct Correction {
    const GreatestPath& path;
    int i;
    Scalar c;

    Token draw(std::uint64_t word) const {
      return path.row(i) ? path.row(i)->draw(c, word) : path.PlainSteps<L>::correction(i, c).draw(word);
    }
    template <class Visit>
    void for_each(Visit visit) const {
      path.row(i) ? path.row(i)->for_each(c, visit) : path.PlainSteps<L>::correction(i, c).for_each(visit);
    }
  };

  const Row& row(int i) const { return rows_[static_cast<std::size_t>(i)]; }

  std::vector<Row> rows_;
};

}  // namespace draftproof
