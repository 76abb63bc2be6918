// The ladder at one node of the chosen path: which of the paths that are still together goes on, the law of the token
// it goes on with, and how many stay together then.
//
//   mu        active()          law of the number of paths at the node, given that the choice came there
//   f         MixedCoverage     probability that one of them goes on in the first s of q
//   q_chosen  chosen(laws, y)   q(y|u) slope[bin of y]: law of the chosen path's next token
//
// Cost: O(n log n + n K) once for n bins, O(K^2) where two paths are rarely together and no break is taken; O(m) a
// choice among m paths. Derived in docs/ladder.md. One text for a host's thread and for a team (plan_room.hpp), whose
// nodes are views of what lies in its workspace.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <draftproof/sim/sampling/guide_table.hpp>
#include <draftproof/verifiers/ladder/bin_residual.hpp>
#include <draftproof/verifiers/ladder/levels.hpp>
#include <draftproof/verifiers/ladder/live_paths.hpp>
#include <draftproof/verifiers/ladder/path_bins.hpp>
#include <draftproof/verifiers/ladder/plan.hpp>
#include <draftproof/verifiers/ladder/residual.hpp>
#include <draftproof/verifiers/ladder/sorted_residual.hpp>

namespace draftproof {

/// The laws at a node as a pass looks at them, token by token: those of a device without the way to the node.
template <class L>
DRAFTPROOF_DEVICE decltype(auto) seen_by_pass(const L& laws) {
  if constexpr (requires { laws.here(); })
    return laws.here();
  else
    return (laws);
}

/// The bins of one node alone, if it has any.
template <class Bins>
class OwnRungs {
 public:
  OwnRungs() = default;
  DRAFTPROOF_DEVICE OwnRungs(const Bins& bins) : bins_{bins}, there_{true} {}

  DRAFTPROOF_DEVICE explicit operator bool() const { return there_; }
  DRAFTPROOF_DEVICE const Bins& operator*() const { return bins_; }
  DRAFTPROOF_DEVICE const Bins* operator->() const { return &bins_; }

 private:
  Bins bins_;
  bool there_ = false;
};

/// The ladder at one node. One thread's own; what it answers never changes.
template <class L>
class LadderNode {
 public:
  using Scalar = typename L::Scalar;
  using Workspace = RoomOf<L>;
  using Bins = LadderRungs<L>;
  /// Law of a number of paths.
  using Active = ListIn<Workspace, Scalar>;

  /// A plain one, the same after any prefix.
  DRAFTPROOF_DEVICE LadderNode() {
    if constexpr (!by_team) active_.push_back(Scalar{1});
  }
  LadderNode(const L& laws, Active active)
      : LadderNode(laws, std::move(active),
                   [&laws](bool coarse) { return std::make_shared<const Bins>(ladder_bins(laws, coarse)); }) {}

  /// `make_bins(coarse)` is called if there is something to choose.
  template <class MakeRungs>
  LadderNode(const L& laws, Active active, const MakeRungs& make_bins) {
    plan(laws, std::move(active), make_bins);
  }
  /// Becomes the node with these laws and paths; in its place, as a copy would go through a thread's registers.
  template <class MakeRungs>
  DRAFTPROOF_DEVICE void plan(const L& laws, Active active, const MakeRungs& make_bins) {
    active_ = std::move(active);
    if (no_choice(laws, active_)) return;
    bins_ = make_bins(laws.one() - active_[0] < Scalar(seldom_two));
    const auto& workspace = workspace_of(laws);
    plan_ = plan_ladder(laws, *bins_, MixedCoverage<Scalar, Active>(active_));
    // Where paths start, many come by.
    levels_ = {workspace, plan_, !ShowsRows<L> && active_[active_.size() - 1] == laws.one()};
    workspace.release_scratch();
    if constexpr (RankedBySums<L>) reach_ = SelectedBins<L>::prefix_length(*bins_, plan_.slope);
    equal_ = false;
    // What is left of p is at least 1 - acceptance; only near 1 can it be nothing, and then q_chosen is p but for
    // rounding, and said to be: a refusal would have nothing to emit. V roundings of 2^-53 stay below 2^-20.
    if (!(plan_.acceptance < Scalar(1 - 0x1p-20)))
      equal_ = !(laws.sum([this, rows = &seen_by_pass(laws)](Token x) { return above(*rows, x, rows->one()); }) >
                 laws.zero());
  }

  /// Whether a node with so many paths is plain.
  DRAFTPROOF_DEVICE static bool no_choice(const L& laws, const Active& active) {
    if (active.size() < 2) return true;
    return laws.vocabulary() > few_tokens && laws.one() - active[0] < Scalar(rarely_two);
  }

  DRAFTPROOF_DEVICE const Active& active() const { return active_; }
  DRAFTPROOF_DEVICE int bins() const { return bins_ ? bins_->size() : 1; }
  /// Of a token that can be drafted.
  template <class Rows>
  DRAFTPROOF_DEVICE int bin(const Rows& laws, Token y) const {
    return plain() ? 0 : ladder_bin(laws, *bins_, y);
  }
  /// No breaks: any active path goes on, and q_chosen is q.
  DRAFTPROOF_DEVICE bool plain() const { return !bins_; }
  /// q_chosen is p.
  DRAFTPROOF_DEVICE bool equal() const { return equal_; }

  /// Law of the chosen path's next token. `laws` are those of the node, here and below, or what a pass sees of them.
  template <class Rows>
  DRAFTPROOF_DEVICE Scalar chosen(const Rows& laws, Token y) const {
    if (equal_) return laws.target(y);
    const auto& q = laws.proposal(y);
    if (plain()) return q;
    return q > laws.zero() ? chosen(laws, y, bin(laws, y)) : laws.zero();
  }
  /// The same of a token that can be drafted and whose bin is known.
  template <class Rows>
  DRAFTPROOF_DEVICE Scalar chosen(const Rows& laws, Token y, int bin) const {
    if (equal_) return laws.target(y);
    const auto& q = laws.proposal(y);
    return plain() ? q : Scalar(q * plan_.slope[static_cast<std::size_t>(bin)]);
  }
  /// (c p - q_chosen)+ at y.
  template <class Rows>
  DRAFTPROOF_DEVICE Scalar above(const Rows& laws, Token y, const Scalar& c) const {
    const Scalar left = c * laws.target(y) - chosen(laws, y);
    return left > laws.zero() ? left : laws.zero();
  }
  /// The same of rows that are seen once, with a pass.
  template <ShowsRows Row>
  auto left(const Row& laws, const Scalar& c) const {
    return LadderLeft<Row, Bins>(laws, *bins_, plan_.slope, c);
  }
  /// The same of tables: what `use` makes of the object that has excess(c), draw(c, word) and for_each(c, visit).
  /// Groups are read along their ranking; a table of its own is made when first asked for: most steps end below.
  template <class Use>
  auto with_left_over(const L& laws, Use use) const {
    if constexpr (RankedBySums<L>)
      if (laws.vocabulary() > few_tokens && !equal_) return use(SelectedBins<L>(laws, *bins_, plan_.slope, reach_));
    const auto law = [this, &laws](Token y) { return chosen(laws, y); };
    if (!left_over_) left_over_.emplace(laws, law);
    return use(left_over_->of(laws, law));
  }

  /// Whether the node after y is plain for certain, by a bound that is cheaper than the law of the paths there: none
  /// of the others lies above y's group, so each takes y with q / (1 - s) at most, s being what lies above y's bin;
  /// that y's path was the one of its group that was taken only makes others there less likely. An eighth is left for
  /// rounding.
  DRAFTPROOF_DEVICE bool plain_after(const L& laws, Token y, int bin) const {
    if (plain()) return true;
    if (laws.vocabulary() <= few_tokens) return false;
    const auto others = Scalar(static_cast<int>(active_.size()) - 1);
    const Scalar below = laws.one() - mass_above(bin);
    return others * laws.proposal(y) < below * Scalar(rarely_two * 0.875);
  }
  /// Law of the number of paths after y, given that y was chosen here.
  std::vector<Scalar> active_after(const L& laws, Token y) const { return active_after(laws, y, bin(laws, y)); }
  std::vector<Scalar> active_after(const L& laws, Token y, int bin) const {
    std::vector<Scalar> next(active_.size());
    active_after(laws, y, bin, next);
    return next;
  }
  /// Into a list as long as active().
  DRAFTPROOF_DEVICE void active_after(const L& laws, Token y, int bin, Active& next) const {
    const auto& workspace = workspace_of(laws);
    const Scalar q = laws.proposal(y);
    ActivePaths<Scalar, Workspace> paths(workspace, active_);
    workspace.once([&] {
      paths.begin();
      if (plain())
        paths.add_group(Scalar(laws.one() - q), laws.zero(), laws.one());
      else
        levels_.for_each_group(bin, [&](int a, int b, const Scalar& share) {
          // Masses of fresh rows are truncated sums, and a token may miss its bin's by its last bits.
          const Scalar others = mass_above(b) - mass_above(a) - q;
          paths.add_group(others > laws.zero() ? others : laws.zero(), Scalar(laws.one() - mass_above(b)), share);
        });
      paths.after(q, next);
    });
    workspace.release_scratch();
  }

  /// The child of u that the chosen path goes on to, and the bin of its token; 0 if there are none.
  struct Choice {
    int child, bin;
  };
  /// `group` is scratch.
  template <class Tree, class Group, class R>
  DRAFTPROOF_DEVICE Choice choose(const Tree& tree, int u, const L& laws, Group& group, R& random) const {
    int best = *tree.draws(u).begin();
    bool choice = false;
    for (const int child : tree.draws(u)) choice |= child != best;
    const auto bin_of = [&](int child) { return bin(laws, tree.token(child)); };
    if (!choice) return {best, bin_of(best)};  // whatever u is, and whoever is taken
    group.clear();
    if (plain()) {
      for (const int child : tree.draws(u)) group.push_back(child);
    } else {
      int top = bins_->size();
      for (const int child : tree.draws(u)) {
        const int bin = bin_of(child);
        group.push_back(bin);
        if (bin < top) {
          top = bin;
          best = child;
        }
      }
      const auto level = levels_.draw(random);
      std::size_t drawn = 0, taken = 0;  // children take the places of bins that were read
      for (const int child : tree.draws(u))
        if (levels_.together(top, group[drawn++], level)) group[taken++] = child;
      group.resize(taken);
    }
    if (group.size() == 1) return {best, bin_of(best)};
    const int child = group[static_cast<std::size_t>(random.pick(UniformIndex{static_cast<int>(group.size())}))];
    return {child, bin_of(child)};
  }

 private:
  /// Where two paths or more are together with less than this probability there is next to nothing to choose, and a
  /// plan for one prefix is not worth its making (docs/ladder.md), unless it is as cheap as for few tokens.
  static constexpr double rarely_two = 0x1p-8;
  /// Below this, groups are coarse.
  static constexpr double seldom_two = 0x1p-3;

  /// q-mass above bin i, which is the size after the last. A team knows it of the corners its plan began with, among
  /// which are the ends of all groups, and for other bins says that of the corner above, which is above them in
  /// every group too.
  DRAFTPROOF_DEVICE Scalar mass_above(int i) const {
    if constexpr (by_team) {
      const auto above = [&](std::size_t j) { return !(i < static_cast<int>(plan_.corner[j])); };
      return plan_.s[bisected(0, plan_.corner.size(), above) - 1];
    } else {
      return bins_->proposal_below(i);
    }
  }

  static constexpr bool by_team = PlannedByTeam<L>;
  struct Nothing {};

  Active active_;
  std::conditional_t<by_team, OwnRungs<Bins>, std::shared_ptr<const Bins>>
      bins_;  ///< on the host nodes share them
  LadderPlan<Scalar, Workspace> plan_;
  LadderLevels<Scalar, Workspace> levels_;
  bool equal_ = false;
  int reach_ = 0;
  mutable std::conditional_t<by_team, Nothing, std::optional<ChosenTable<Scalar>>> left_over_;
};

}  // namespace draftproof
