// The path that ladders chose, as block verification reads it (block_rule.hpp): the law the chosen path truly has is
// its proposal. Cost: O(1) a token, O(n) an excess or a correction of n groups, O(log V) from a table of the node;
// laws in buckets are made for one look and take a pass instead, one for both. Where the ladder takes no break, both
// are the laws' own.
#pragma once

#include <optional>

#include <draftproof/sim/block_rule.hpp>
#include <draftproof/sim/ladder_node.hpp>
#include <draftproof/sim/served_weights.hpp>
#include <draftproof/sim/token_ranking.hpp>

namespace draftproof {

template <class L>
class ChosenSteps {
 public:
  using Scalar = typename L::Scalar;

  explicit ChosenSteps(const TreeAt<L>& at) : at_{at} {}

  void append(const LadderNode<L>& ladder, int child, int rung) {
    ladders_[length_] = &ladder;
    rungs_[length_] = rung;
    nodes_[++length_] = child;
  }

  int length() const { return length_; }
  int node(int i) const { return nodes_[i]; }
  const L& laws(int i) const { return at_.laws(nodes_[i]); }
  Token token(int i) const { return at_.tree().token(nodes_[i + 1]); }
  Scalar zero() const { return laws(0).zero(); }
  Scalar one() const { return laws(0).one(); }

  Scalar target(int i) const { return laws(i).target(token(i)); }
  Scalar proposal(int i) const { return ladders_[i]->chosen(laws(i), token(i), rungs_[i]); }
  /// Of the last token.
  int last_rung() const { return rungs_[length_ - 1]; }
  Scalar excess(int i, const Scalar& c) const {
    if (ladders_[i]->plain()) return c * laws(i).residual_mass(one() / c);
    if constexpr (Ranked<L>)
      return ladders_[i]->with_left_over(laws(i), [&c](const auto& left) { return Scalar(left.excess(c)); });
    else if constexpr (ShowsRows<L>)
      return ladders_[i]->equal() ? laws(i).sum(left(i, c)) : passed(i, c).total();
    else
      return laws(i).sum(left(i, c));
  }
  auto correction(int i, const Scalar& c) const { return Correction{*this, i, c}; }
  auto bonus() const { return laws(length_).residual(zero()); }

 private:
  struct Correction {
    const ChosenSteps& steps;
    int i;
    Scalar c;

    Token draw(std::uint64_t word) const {
      return with([word](const auto& weights) { return weights.draw(word); });
    }
    template <class Visit>
    void for_each(Visit visit) const {
      with([&visit](const auto& weights) {
        weights.for_each(visit);
        return no_token;
      });
    }
    template <class Visit>
    void for_each_served(Visit visit) const {
      with([&visit](const auto& weights) {
        visit_served(weights, visit);
        return no_token;
      });
    }

   private:
    template <class Use>
    Token with(Use use) const {
      const L& laws = steps.laws(i);
      const LadderNode<L>& ladder = *steps.ladders_[i];
      if (ladder.plain()) return use(laws.residual(steps.one() / c));
      if constexpr (Ranked<L>)
        return use(FromTable{laws, ladder, c});
      else if constexpr (ShowsRows<L>)
        return ladder.equal() ? use(laws.weights(steps.left(i, c))) : use(steps.passed(i, c));
      else
        return use(laws.weights(steps.left(i, c)));
    }
  };
  struct FromTable {
    const L& laws;
    const LadderNode<L>& ladder;
    Scalar c;

    Token draw(std::uint64_t word) const {
      return ladder.with_left_over(laws, [this, word](const auto& left) { return left.draw(c, word); });
    }
    template <class Visit>
    void for_each(Visit visit) const {
      ladder.with_left_over(laws, [this, &visit](const auto& left) { left.for_each(c, visit); });
    }
  };

  auto left(int i, const Scalar& c) const {
    return [&laws = laws(i), ladder = ladders_[i], c](Token y) { return ladder->above(laws, y, c); };
  }

  /// The pass of one position, kept: what is corrected was tested just before.
  template <class Row = L>
  const auto& passed(int i, const Scalar& c) const {
    if (!(passed_at_ == i && passed_scale_ == c)) {
      passed_.emplace(ladders_[i]->left(laws(i), c));
      passed_at_ = i;
      passed_scale_ = c;
    }
    return *passed_;
  }

  template <class Row>
  struct PassOf {
    using type = char;
  };
  template <ShowsRows Row>
  struct PassOf<Row> {
    using type = LadderLeft<Row, LadderRungs<Row>>;
  };

  const TreeAt<L>& at_;
  mutable std::optional<typename PassOf<L>::type> passed_;
  mutable int passed_at_ = -1;
  mutable Scalar passed_scale_{0};
  int length_ = 0;
  int nodes_[max_path_length + 1] = {DraftTree::root};
  int rungs_[max_path_length];
  const LadderNode<L>* ladders_[max_path_length];
};

}  // namespace draftproof
