// The greatest of the paths drafted below a node, in the form that block verification reads: verify_block
// (block_rule.hpp) gets the true distribution of each of the path's tokens in place of q.
//
//   max_of_k     the K paths that start at a node and are compared; a new set where more paths start than arrive, as
//                at the end of a stem
//   row(i)       distribution of token i + 1 given the tokens before: skewed (max_of_k_paths.hpp) for several paths,
//                q for one
//   choose       choose(at, order, u) returns a child of u; by default the greatest in the order of the row
//
// Cost: O(K) per token of the path if single tokens are ranked, otherwise passes over the vocabulary; one excess per
// test (greatest_row.hpp, bucketed_row.hpp).
// Correctness: the choice never reads tokens below the point where two paths part, so the tokens that follow there
// are fresh draws of q.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <draftproof/verifiers/paths/block/block_rule.hpp>
#include <draftproof/verifiers/paths/greatest/bucketed_row.hpp>
#include <draftproof/verifiers/paths/greatest/greatest_row.hpp>
#include <draftproof/verifiers/paths/greatest/order_buckets.hpp>

namespace draftproof {

/// The child of u that is highest in the order.
struct ChooseGreatest {
  template <class L>
  DRAFTPROOF_DEVICE int operator()(const DraftedTree<L>& at, const TokenOrder<L>& order, int u) const {
    int greatest = -1;
    for (const int child : at.tree().children(u))
      if (greatest < 0 || order.above(at.tree().token(child), at.tree().token(greatest))) greatest = child;
    return greatest;
  }
};

/// The data that a path keeps of each row.
template <class L>
struct RowsAlong {
  using Row = PlacedToken;
  using Excess = typename BucketedRow<L>::Excess;
};
template <Ranked L>
struct RowsAlong<L> {
  using Row = std::optional<GreatestRow<L>>;
  struct Excess {};
};

template <class L>
class GreatestPath : public PlainSteps<L> {
 public:
  using Scalar = typename L::Scalar;

  template <class Choose = ChooseGreatest>
  DRAFTPROOF_DEVICE GreatestPath(const DraftedTree<L>& at, int start, Choose choose = {}) : PlainSteps<L>(at, start) {
    const auto& tree = at.tree();
    if constexpr (Ranked<L>) rows_.reserve(static_cast<std::size_t>(tree.length()));
    auto max_of_k = MaxOfKPaths<Scalar>::of(tree.draw_count(start));
    for (int u = start; !tree.leaf(u);) {
      int child = *tree.children(u).begin();
      if (max_of_k.paths > 1)
        max_of_k = add_row(at.distributions(u), max_of_k, [&](const TokenOrder<L>& order) {
          if (tree.draw_count(u) > 1) child = choose(at, order, u);
          return tree.token(child);
        });
      else
        rows_.push_back({});
      int arriving = 0;
      for (const int drawn : tree.draws(u)) arriving += drawn == child;
      if (tree.draw_count(child) > arriving) max_of_k = MaxOfKPaths<Scalar>::of(tree.draw_count(child));
      this->append(child);
      u = child;
    }
  }

  DRAFTPROOF_DEVICE Scalar proposal(int i) const {
    if (!skewed(i)) return PlainSteps<L>::proposal(i);
    if constexpr (Ranked<L>)
      return row(i)->distribution(this->token(i));
    else
      return bucketed(i).distribution();
  }
  DRAFTPROOF_DEVICE Scalar excess(int i, const Scalar& c) const {
    if (!skewed(i)) return PlainSteps<L>::excess(i, c);
    if constexpr (Ranked<L>)
      return row(i)->excess(c);
    else
      return from_fixed(left_over(i, c).total);
  }
  DRAFTPROOF_DEVICE auto correction(int i, const Scalar& c) const { return Correction{*this, i, c}; }

 private:
  using Row = typename RowsAlong<L>::Row;

  struct Correction {
    const GreatestPath& path;
    int i;
    Scalar c;

    DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const {
      if (!path.skewed(i)) return path.PlainSteps<L>::correction(i, c).draw(word);
      if constexpr (Ranked<L>)
        return path.row(i)->draw(c, word);
      else
        return path.draw_left_over(i, c, word);
    }
    template <class Visit>
    DRAFTPROOF_DEVICE void for_each(Visit visit) const {
      if (!path.skewed(i)) return path.PlainSteps<L>::correction(i, c).for_each(visit);
      if constexpr (Ranked<L>)
        path.row(i)->for_each(c, visit);
      else
        path.bucketed(i).for_each(c, visit);
    }
  };

  /// Adds the row of `distributions` for the path's next token, which chosen(order) returns. Returns the max_of_k at
  /// this child.
  template <class Chosen>
  DRAFTPROOF_DEVICE MaxOfKPaths<Scalar> add_row(const L& distributions, const MaxOfKPaths<Scalar>& max_of_k,
                                                const Chosen& chosen) {
    TokenOrder<L> order(distributions);
    const Token x = chosen(order);
    if constexpr (Ranked<L>) {
      rows_.emplace_back();
      return rows_.back().emplace(distributions, std::move(order), max_of_k).after(x);
    } else {
      const PlacedToken placed = BucketedRow<L>::placed(distributions, max_of_k, x);
      rows_.push_back(placed);
      return max_of_k.after(placed.q, placed.below);
    }
  }

  DRAFTPROOF_DEVICE const Row& row(int i) const { return rows_.begin()[i]; }
  DRAFTPROOF_DEVICE bool skewed(int i) const {
    if constexpr (Ranked<L>)
      return row(i).has_value();
    else
      return row(i).max_of_k.paths > 1;
  }

  DRAFTPROOF_DEVICE BucketedRow<L> bucketed(int i) const { return {this->distributions(i), row(i)}; }
  /// Returns the excess of position i. Keeps it, because the correction at i needs the excess that the test at i has
  /// just computed.
  DRAFTPROOF_DEVICE const auto& left_over(int i, double c) const {
    if (tested_ != i) {
      bucketed(i).excess(c, left_over_);
      tested_ = i;
    }
    return left_over_;
  }
  DRAFTPROOF_DEVICE Token draw_left_over(int i, double c, std::uint64_t word) const {
    return bucketed(i).draw(c, left_over(i, c), word);
  }

  ListAt<L, Row, max_path_length> rows_;
  mutable int tested_ = -1;  ///< position of left_over_; each position has one c
  mutable typename RowsAlong<L>::Excess left_over_;
};

}  // namespace draftproof
