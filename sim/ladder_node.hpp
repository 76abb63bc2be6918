// The ladder at one node of the chosen path: which of the paths that are still together goes on, the law of the token
// it goes on with, and how many stay together then.
//
//   mu        active()          law of the number of paths at the node, given that the choice came there
//   f         MixedCoverage     probability that one of them goes on in the first s of q
//   q_chosen  chosen(laws, y)   q(y|u) slope[rung of y]: law of the chosen path's next token
//
// Cost: O(n log n + n K) once for n rungs, O(K^2) where two paths are rarely together and no break is taken; O(m) a
// choice among m paths. Derived in docs/ladder.md.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <draftproof/sim/active_paths.hpp>
#include <draftproof/sim/chosen_rungs.hpp>
#include <draftproof/sim/chosen_table.hpp>
#include <draftproof/sim/draft_tree.hpp>
#include <draftproof/sim/ladder_left.hpp>
#include <draftproof/sim/ladder_levels.hpp>
#include <draftproof/sim/ladder_plan.hpp>
#include <draftproof/sim/ladder_rungs.hpp>

namespace draftproof {

/// The ladder at one node. One thread's own; what it answers never changes.
template <class L>
class LadderNode {
 public:
  using Scalar = typename L::Scalar;
  using Rungs = LadderRungs<L>;

  /// A plain one, the same after any prefix.
  LadderNode() : active_{Scalar{1}} {}
  LadderNode(const L& laws, std::vector<Scalar> active)
      : LadderNode(laws, std::move(active),
                   [&laws](bool coarse) { return std::make_shared<const Rungs>(ladder_rungs(laws, coarse)); }) {}

  /// `make_rungs(coarse)` is called if there is something to choose.
  template <class MakeRungs>
  LadderNode(const L& laws, std::vector<Scalar> active, MakeRungs make_rungs) : active_{std::move(active)} {
    if (active_.size() == 1) return;
    const Scalar two = laws.one() - active_.front();
    if (laws.vocabulary() > few_tokens && two < Scalar(rarely_two)) return;
    rungs_ = make_rungs(two < Scalar(seldom_two));
    plan_ = plan_ladder(laws, *rungs_, MixedCoverage<Scalar>(active_));
    levels_.emplace(plan_, !ShowsRows<L> && active_.back() == laws.one());  // where paths start, many come by
    if constexpr (RankedBySums<L>) reach_ = ChosenRungs<L>::reach(*rungs_, plan_.slope);
    // What is left of p is at least 1 - acceptance; only near 1 can it be nothing, and then q_chosen is p but for
    // rounding, and said to be: a refusal would have nothing to emit. V roundings of 2^-53 stay below 2^-20.
    if (!(plan_.acceptance < Scalar(1 - 0x1p-20)))
      equal_ = !(laws.sum([&](Token x) { return above(laws, x, laws.one()); }) > laws.zero());
  }

  const std::vector<Scalar>& active() const { return active_; }
  int rungs() const { return rungs_ ? rungs_->size() : 1; }
  /// Of a token that can be drafted.
  int rung(const L& laws, Token y) const { return plain() ? 0 : ladder_rung(laws, *rungs_, y); }
  /// No breaks: any active path goes on, and q_chosen is q.
  bool plain() const { return !rungs_; }
  /// q_chosen is p.
  bool equal() const { return equal_; }

  /// Law of the chosen path's next token.
  Scalar chosen(const L& laws, Token y) const {
    if (equal_) return laws.target(y);
    const auto& q = laws.proposal(y);
    if (plain()) return q;
    return q > laws.zero() ? chosen(laws, y, rung(laws, y)) : laws.zero();
  }
  /// The same of a token that can be drafted and whose rung is known.
  Scalar chosen(const L& laws, Token y, int rung) const {
    if (equal_) return laws.target(y);
    const auto& q = laws.proposal(y);
    return plain() ? q : Scalar(q * plan_.slope[static_cast<std::size_t>(rung)]);
  }
  /// (c p - q_chosen)+ at y.
  Scalar above(const L& laws, Token y, const Scalar& c) const {
    const Scalar left = c * laws.target(y) - chosen(laws, y);
    return left > laws.zero() ? left : laws.zero();
  }
  /// The same of rows that are seen once, with a pass.
  template <ShowsRows Row>
  auto left(const Row& laws, const Scalar& c) const {
    return LadderLeft<Row, Rungs>(laws, *rungs_, plan_.slope, c);
  }
  /// The same of tables: what `use` makes of the object that has excess(c), draw(c, word) and for_each(c, visit).
  /// Groups are read along their ranking; a table of its own is made when first asked for: most passages end below.
  template <class Use>
  auto with_left_over(const L& laws, Use use) const {
    if constexpr (RankedBySums<L>)
      if (laws.vocabulary() > few_tokens && !equal_) return use(ChosenRungs<L>(laws, *rungs_, plan_.slope, reach_));
    const auto law = [this, &laws](Token y) { return chosen(laws, y); };
    if (!left_over_) left_over_.emplace(laws, law);
    return use(left_over_->of(laws, law));
  }

  /// Whether the node after y is plain for certain, by a bound that is cheaper than the law of the paths there: none
  /// of the others lies above y's group, so each takes y with q / (1 - s) at most, s being what lies above y's rung;
  /// that y's path was the one of its group that was taken only makes others there less likely. An eighth is left for
  /// rounding.
  bool plain_after(const L& laws, Token y, int rung) const {
    if (plain()) return true;
    if (laws.vocabulary() <= few_tokens) return false;
    const auto others = Scalar(static_cast<int>(active_.size()) - 1);
    const Scalar below = laws.one() - rungs_->proposal_below(rung);
    return others * laws.proposal(y) < below * Scalar(rarely_two * 0.875);
  }
  /// Law of the number of paths after y, given that y was chosen here.
  std::vector<Scalar> active_after(const L& laws, Token y) const { return active_after(laws, y, rung(laws, y)); }
  std::vector<Scalar> active_after(const L& laws, Token y, int rung) const {
    const Scalar q = laws.proposal(y);
    ActivePaths<Scalar> paths(active_);
    if (plain()) {
      paths.add_group(Scalar(laws.one() - q), laws.zero(), laws.one());
      return paths.after(q);
    }
    levels_->for_each_group(rung, [&](int a, int b, const Scalar& share) {
      // Masses of fresh rows are truncated sums, and a token may miss its rung's by its last bits.
      const Scalar others = rungs_->proposal_below(b) - rungs_->proposal_below(a) - q;
      paths.add_group(others > laws.zero() ? others : laws.zero(), Scalar(laws.one() - rungs_->proposal_below(b)),
                      share);
    });
    return paths.after(q);
  }

  /// The child of u that the chosen path goes on to, and the rung of its token; 0 if there are none.
  struct Choice {
    int child, rung;
  };
  /// `group` is scratch.
  template <class R>
  Choice choose(const DraftTree& tree, int u, const L& laws, std::vector<int>& group, R& random) const {
    int best = *tree.draws(u).begin();
    bool choice = false;
    for (const int child : tree.draws(u)) choice |= child != best;
    const auto rung_of = [&](int child) { return rung(laws, tree.token(child)); };
    if (!choice) return {best, rung_of(best)};  // whatever u is, and whoever is taken
    group.clear();
    if (plain()) {
      for (const int child : tree.draws(u)) group.push_back(child);
    } else {
      int top = rungs_->size();
      for (const int child : tree.draws(u)) {
        const int rung = rung_of(child);
        group.push_back(rung);
        if (rung < top) {
          top = rung;
          best = child;
        }
      }
      const auto level = levels_->draw(random);
      std::size_t drawn = 0, taken = 0;  // children take the places of rungs that were read
      for (const int child : tree.draws(u))
        if (levels_->together(top, group[drawn++], level)) group[taken++] = child;
      group.resize(taken);
    }
    if (group.size() == 1) return {best, rung_of(best)};
    const int child = group[static_cast<std::size_t>(random.pick(EqualWeights{static_cast<int>(group.size())}))];
    return {child, rung_of(child)};
  }

 private:
  /// Where two paths or more are together with less than this probability there is next to nothing to choose, and a
  /// plan for one prefix is not worth its making (docs/ladder.md), unless it is as cheap as for few tokens.
  static constexpr double rarely_two = 0x1p-8;
  /// Below this, groups are coarse.
  static constexpr double seldom_two = 0x1p-3;

  std::vector<Scalar> active_;
  std::shared_ptr<const Rungs> rungs_;
  LadderPlan<Scalar> plan_;
  std::optional<LadderLevels<Scalar>> levels_;
  bool equal_ = false;
  int reach_ = 0;
  mutable std::optional<ChosenTable<Scalar>> left_over_;
};

}  // namespace draftproof
