// The path that ladders chose, as block verification reads it (block_rule.hpp): the proposal of each token is the
// distribution that the chosen path has. At a node whose ladder has no breaks this distribution is the proposal of
// the distributions.
//
//   proposal(i)     proposals_    stored when the token is appended: a device's team may no longer have the plan
//   ladder(i)       plans.node    kept on the host; on a team the last one or recomputed (recomputed_plans.hpp)
//
// Cost: O(1) per token, O(n) per excess or correction for n bins, O(log V) if a table of the node exists.
// Distributions in buckets need a pass instead, one for both the excess and the correction.
#pragma once

#include <optional>
#include <type_traits>

#include <draftproof/sim/distributions/ratio_bins.hpp>
#include <draftproof/sim/random/tape.hpp>
#include <draftproof/verifiers/ladder/path_node.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof {

/// `Plans` (path_plans.hpp, recomputed_plans.hpp) returns the LadderNode<L> of a Place.
template <class L, class Plans>
class ChosenSteps {
 public:
  using Scalar = typename L::Scalar;
  using Place = typename Plans::Place;

  DRAFTPROOF_DEVICE ChosenSteps(const DraftedTree<L>& at, Plans& plans) : at_{at}, plans_{plans} {}

  /// Appends the child that was chosen and the bin of its token; `place` identifies the ladder of the last node.
  DRAFTPROOF_DEVICE void append(const Place& place, int child, int bin) {
    places_[length_] = place;
    proposals_[length_] = plans_.last(place).chosen(distributions(length_), at_.tree().token(child), bin);
    last_bin_ = bin;
    nodes_[++length_] = child;
  }

  DRAFTPROOF_DEVICE int length() const { return length_; }
  DRAFTPROOF_DEVICE int node(int i) const { return nodes_[i]; }
  DRAFTPROOF_DEVICE decltype(auto) distributions(int i) const { return at_.distributions(nodes_[i]); }
  DRAFTPROOF_DEVICE Token token(int i) const { return at_.tree().token(nodes_[i + 1]); }
  DRAFTPROOF_DEVICE const Place& place(int i) const { return places_[i]; }
  DRAFTPROOF_DEVICE Scalar zero() const { return distributions(0).zero(); }
  DRAFTPROOF_DEVICE Scalar one() const { return distributions(0).one(); }

  DRAFTPROOF_DEVICE Scalar target(int i) const { return distributions(i).target(token(i)); }
  DRAFTPROOF_DEVICE Scalar proposal(int i) const { return proposals_[i]; }
  /// Bin of the last token.
  DRAFTPROOF_DEVICE int last_bin() const { return last_bin_; }
  DRAFTPROOF_DEVICE Scalar excess(int i, const Scalar& c) const {
    if (plain(i)) return c * distributions(i).residual_mass(one() / c);
    if constexpr (Ranked<L>) {
      return ladder(i).with_left_over(distributions(i), [&c](const auto& left) { return Scalar(left.excess(c)); });
    } else if constexpr (ShowsRows<L>) {
      return ladder(i).equal() ? distributions(i).sum(left(i, c)) : passed(i, c).total();
    } else if constexpr (PlannedByTeam<L>) {
      return team_excess(i, c);
    } else {
      return distributions(i).sum(left(i, c));
    }
  }
  DRAFTPROOF_DEVICE auto correction(int i, const Scalar& c) const { return Correction{*this, i, c}; }
  DRAFTPROOF_DEVICE auto bonus() const { return distributions(length_).residual(zero()); }

 private:
  struct Correction {
    const ChosenSteps& steps;
    int i;
    Scalar c;

    DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const {
      return with([word](const auto& weights) { return weights.draw(word); });
    }
    template <class Visit>
    DRAFTPROOF_DEVICE void for_each(Visit visit) const {
      with([&visit](const auto& weights) {
        weights.for_each(visit);
        return no_token;
      });
    }
    template <class Visit>
    void for_each_realised(Visit visit) const {
      with([&visit](const auto& weights) {
        visit_realised(weights, visit);
        return no_token;
      });
    }

   private:
    template <class Use>
    DRAFTPROOF_DEVICE Token with(Use use) const {
      const L& distributions = steps.distributions(i);
      if (steps.plain(i)) return use(distributions.residual(steps.one() / c));
      // If q_chosen is p, a refusal is due to rounding; the token is then drawn from p.
      if (steps.ladder(i).equal()) return use(distributions.residual(steps.zero()));
      if constexpr (Ranked<L>)
        return steps.ladder(i).with_left_over(distributions, [&](const auto& left) {
          return use(AtFactor<std::remove_cvref_t<decltype(left)>>{left, c});
        });
      else if constexpr (ShowsRows<L>)
        return use(steps.passed(i, c));
      else if constexpr (PlannedByTeam<L>)
        return use(FromTeam{steps, i, c});
      else
        return use(distributions.weights(steps.left(i, c)));
    }
  };
  template <class Left>
  struct AtFactor {
    const Left& left;
    Scalar c;

    Token draw(std::uint64_t word) const { return left.draw(c, word); }
    template <class Visit>
    void for_each(Visit visit) const {
      left.for_each(c, visit);
    }
  };

  struct FromTeam {
    const ChosenSteps& steps;
    int i;
    Scalar c;

    DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const { return steps.team_draw(i, c, word); }
    template <class Visit>
    DRAFTPROOF_DEVICE void for_each(Visit visit) const {
      steps.distributions(i).weights(steps.left(i, c)).for_each(visit);
    }
  };

  DRAFTPROOF_DEVICE bool plain(int i) const { return Plans::plain(places_[i]); }
  DRAFTPROOF_DEVICE const LadderNode<L>& ladder(int i) const { return plans_.node(at_, *this, i); }
  DRAFTPROOF_DEVICE auto left(int i, const Scalar& c) const { return left_of(distributions(i), ladder(i), c); }
  DRAFTPROOF_DEVICE static auto left_of(const L& distributions, const LadderNode<L>& ladder, const Scalar& c) {
    return [rows = &seen_by_pass(distributions), ladder = &ladder, c](Token y) { return ladder->above(*rows, y, c); };
  }
  // After a rejection, a correction is drawn at the position whose excess was computed last, from the same weights, so
  // team_draw reuses the sums of team_excess if both are called with the same i and c. The two passes are not inlined,
  // because inlined passes would spill registers of verify_block.
  DRAFTPROOF_DEVICE Scalar team_excess(int i, const Scalar& c) const {
    const LadderNode<L>& node = ladder(i);
    passed_at_ = i;
    passed_scale_ = c;
    return sum_left(distributions(i), node, c);
  }
  DRAFTPROOF_DEVICE Token team_draw(int i, const Scalar& c, std::uint64_t word) const {
    const LadderNode<L>& node = ladder(i);
    return draw_left(distributions(i), node, c, passed_at_ == i && passed_scale_ == c, word);
  }
  [[gnu::noinline]] DRAFTPROOF_DEVICE static Scalar sum_left(const L& distributions, const LadderNode<L>& ladder,
                                                             Scalar c) {
    return distributions.sum(left_of(distributions, ladder, c));
  }
  [[gnu::noinline]] DRAFTPROOF_DEVICE static Token draw_left(const L& distributions, const LadderNode<L>& ladder,
                                                             Scalar c, bool summed, std::uint64_t word) {
    return distributions.weights(left_of(distributions, ladder, c), summed).draw(word);
  }

  /// Returns the pass of one position, kept because the draw of a correction needs it again.
  template <class Row = L>
  const auto& passed(int i, const Scalar& c) const {
    if (!(passed_at_ == i && passed_scale_ == c)) {
      passed_.emplace(ladder(i).left(distributions(i), c));
      passed_at_ = i;
      passed_scale_ = c;
    }
    return *passed_;
  }

  template <class Row>
  struct PassOf {
    struct type {};
  };
  template <ShowsRows Row>
  struct PassOf<Row> {
    using type = std::optional<LadderLeft<Row, LadderBins<Row>>>;
  };

  const DraftedTree<L>& at_;
  Plans& plans_;
  mutable typename PassOf<L>::type passed_;
  mutable int passed_at_ = -1;
  mutable Scalar passed_scale_{0};
  int length_ = 0;
  int last_bin_ = 0;
  int nodes_[max_path_length + 1] = {DraftTree::root};
  Scalar proposals_[max_path_length];
  Place places_[max_path_length];
};

}  // namespace draftproof
