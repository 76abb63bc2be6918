// The ladder at one node of the chosen path: chooses which active path goes on, and gives the distribution of its
// next token and the distribution of the number of paths that remain active.
//
//   mu        active()          distribution of the number of paths at the node, given that the choice reached it
//   f         MixedCoverage     probability that one of them takes a token in the first bins, of q-mass s
//   q_chosen  chosen(distributions, y)   q(y|u) slope[bin of y]: distribution of the chosen path's next token
//
// Cost: O(n log n + n K) once for n bins, or O(K^2) where two active paths are rare and no break is taken; O(m) per
// choice among m paths. Derived in docs/ladder.md. The code is the same for a host thread and for a team
// (cooperative_memory.hpp); a team's nodes are views of lists in its workspace.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <draftproof/sim/sampling/guide_table.hpp>
#include <draftproof/verifiers/ladder/bins.hpp>
#include <draftproof/verifiers/ladder/coverage.hpp>
#include <draftproof/verifiers/ladder/group_choice.hpp>
#include <draftproof/verifiers/ladder/levels.hpp>
#include <draftproof/verifiers/ladder/live_paths.hpp>
#include <draftproof/verifiers/ladder/plan.hpp>
#include <draftproof/verifiers/ladder/residual.hpp>
#include <draftproof/verifiers/ladder/table_residual.hpp>
#include <draftproof/verifiers/ladder/team_race.hpp>

namespace draftproof {

/// Returns the object that passes at a node read: on a device the team's rows, moved to this node.
template <class L>
DRAFTPROOF_DEVICE decltype(auto) seen_by_pass(const L& distributions) {
  if constexpr (requires { distributions.here(); })
    return distributions.here();
  else
    return (distributions);
}

/// The ladder at one node. Results are the same until the next plan(). Only one thread may use a node, because it
/// caches results.
template <class L>
class LadderNode {
 public:
  using Scalar = typename L::Scalar;
  using Workspace = WorkspaceOf<L>;
  using Bins = LadderBins<L>;
  /// Distribution of a number of paths.
  using Active = ListIn<Workspace, Scalar>;

  /// A plain node (no breaks), which is the same for every prefix.
  DRAFTPROOF_DEVICE LadderNode() {
    if constexpr (!by_team) active_.push_back(Scalar{1});
  }
  LadderNode(const L& distributions, Active active)
      : LadderNode(distributions, std::move(active), [&distributions](bool coarse) {
          return std::make_shared<const Bins>(ladder_bins(distributions, coarse));
        }) {}

  /// `make_bins(coarse)` is called if there is a choice to make.
  template <class MakeBins>
  LadderNode(const L& distributions, Active active, const MakeBins& make_bins) {
    plan(distributions, std::move(active), make_bins);
  }
  /// Turns this into the node with these distributions and paths. The node is changed in place, because a copy would
  /// pass through a thread's registers.
  template <class MakeBins>
  DRAFTPROOF_DEVICE void plan(const L& distributions, Active active, const MakeBins& make_bins) {
    active_ = std::move(active);
    if (no_choice(distributions, active_)) return;
    bins_ = make_bins(distributions.one() - active_[0] < Scalar(seldom_two));
    // Makes tables for many trials only at nodes where paths start.
    finish(distributions, MixedCoverage<Scalar, Active>(active_),
           !ShowsRows<L> && active_[active_.size() - 1] == distributions.one());
  }
  /// Turns this into the node with `children` children, which were drafted without replacement; with one child it is
  /// plain.
  template <class MakeBins>
  DRAFTPROOF_DEVICE void plan_distinct(const L& distributions, int children, const MakeBins& make_bins) {
    if (children < 2) return;
    bins_ = make_bins(false);
    if constexpr (by_team)
      finish(distributions, TeamWorCoverage<L, Bins>(distributions, *bins_, children), false);
    else
      finish(distributions, WorCoverage<Scalar>(distributions, *bins_, children), !ShowsRows<L>);
  }

  /// Whether a node with this number of paths is plain.
  DRAFTPROOF_DEVICE static bool no_choice(const L& distributions, const Active& active) {
    if (active.size() < 2) return true;
    return distributions.vocabulary() > few_tokens && distributions.one() - active[0] < Scalar(rarely_two);
  }

  /// Distribution of the number of paths at the node.
  DRAFTPROOF_DEVICE const Active& active() const { return active_; }
  /// Number of bins; 1 at a plain node.
  DRAFTPROOF_DEVICE int bins() const { return bins_ ? bins_->size() : 1; }
  /// Bin of a token that can be drafted.
  template <class Rows>
  DRAFTPROOF_DEVICE int bin(const Rows& distributions, Token y) const {
    return plain() ? 0 : ladder_bin(distributions, *bins_, y);
  }
  /// Whether there are no breaks: any active path goes on, and q_chosen is q.
  DRAFTPROOF_DEVICE bool plain() const { return !bins_; }
  /// Whether q_chosen is p.
  DRAFTPROOF_DEVICE bool equal() const { return equal_; }

  /// Probability q_chosen(y) of the chosen path's next token y. Here and in the functions below, `distributions` is the
  /// node's object of type L or the result of seen_by_pass().
  template <class Rows>
  DRAFTPROOF_DEVICE Scalar chosen(const Rows& distributions, Token y) const {
    if (equal_) return distributions.target(y);
    const auto& q = distributions.proposal(y);
    if (plain()) return q;
    return q > distributions.zero() ? chosen(distributions, y, bin(distributions, y)) : distributions.zero();
  }
  /// Returns q_chosen(y) for a token y that can be drafted and whose bin is known.
  template <class Rows>
  DRAFTPROOF_DEVICE Scalar chosen(const Rows& distributions, Token y, int bin) const {
    if (equal_) return distributions.target(y);
    const auto& q = distributions.proposal(y);
    return plain() ? q : Scalar(q * plan_.slope[static_cast<std::size_t>(bin)]);
  }
  /// (c p - q_chosen)+ at y.
  template <class Rows>
  DRAFTPROOF_DEVICE Scalar above(const Rows& distributions, Token y, const Scalar& c) const {
    const Scalar left = c * distributions.target(y) - chosen(distributions, y);
    return left > distributions.zero() ? left : distributions.zero();
  }
  /// The residual on rows that serve one decision only, computed by a pass.
  template <ShowsRows Row>
  auto left(const Row& distributions, const Scalar& c) const {
    return LadderLeft<Row, Bins>(distributions, *bins_, plan_.slope, c);
  }
  /// Calls `use` with the residual of tables, which has excess(c), draw(c, word) and for_each(c, visit), and returns
  /// its result. Long tables are read along their ranking; other tables are made on first use, since most steps never
  /// need one.
  template <class Use>
  auto with_left_over(const L& distributions, Use use) const {
    if constexpr (RankedBySums<L>)
      if (distributions.vocabulary() > few_tokens && !equal_)
        return use(SelectedBins<L>(distributions, *bins_, plan_.slope, reach_, mass_));
    const auto distribution = [this, &distributions](Token y) { return chosen(distributions, y); };
    if (!left_over_) left_over_.emplace(distributions, distribution);
    return use(left_over_->of(distributions, distribution));
  }

  /// Whether the node after y is certainly plain, by a bound that is cheaper than the distribution of the paths
  /// there. None of the other paths lies above y's group, so each takes y with probability at most q / (1 - s), s
  /// being the q-mass above y's bin; the choice of y's path from its group only makes other paths there less likely.
  /// The factor 0.875 allows for rounding.
  DRAFTPROOF_DEVICE bool plain_after(const L& distributions, Token y, int bin) const {
    if (plain()) return true;
    if (distributions.vocabulary() <= few_tokens) return false;
    const auto others = Scalar(static_cast<int>(active_.size()) - 1);
    const Scalar below = distributions.one() - mass_above(bin);
    return others * distributions.proposal(y) < below * Scalar(rarely_two * 0.875);
  }
  /// Distribution of the number of paths after y, given that y was chosen here.
  std::vector<Scalar> active_after(const L& distributions, Token y) const {
    return active_after(distributions, y, bin(distributions, y));
  }
  std::vector<Scalar> active_after(const L& distributions, Token y, int bin) const {
    std::vector<Scalar> next(active_.size());
    active_after(distributions, y, bin, next);
    return next;
  }
  /// Writes the distribution of the number of paths after y to `next`, a list as long as active().
  DRAFTPROOF_DEVICE void active_after(const L& distributions, Token y, int bin, Active& next) const {
    const auto& workspace = workspace_of(distributions);
    const Scalar q = distributions.proposal(y);
    ActivePaths<Scalar, Workspace> paths(workspace, active_);
    workspace.once([&] {
      paths.begin();
      if (plain())
        paths.add_group(Scalar(distributions.one() - q), distributions.zero(), distributions.one());
      else
        levels_.for_each_group(bin, [&](int a, int b, const Scalar& share) {
          // Masses of fresh rows are truncated sums, so the q-mass of a bin can be below the q of its token in the
          // last bits.
          const Scalar others = mass_above(b) - mass_above(a) - q;
          paths.add_group(others > distributions.zero() ? others : distributions.zero(),
                          Scalar(distributions.one() - mass_above(b)), share);
        });
      paths.after(q, next);
    });
    workspace.release_scratch();
  }

  /// The child of u that the chosen path goes on to, and the bin of its token; bin 0 if there are no bins.
  struct Choice {
    int child, bin;
  };
  /// `group` is scratch memory.
  template <class Tree, class Group, class R>
  DRAFTPROOF_DEVICE Choice choose(const Tree& tree, int u, const L& distributions, Group& group, R& random) const {
    int best = *tree.draws(u).begin();
    bool choice = false;
    for (const int child : tree.draws(u)) choice |= child != best;
    const auto bin_of = [&](int child) { return bin(distributions, tree.token(child)); };
    if (!choice) return {best, bin_of(best)};  // one child: chosen for every u
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
      std::size_t drawn = 0, taken = 0;  // children overwrite bins in `group` that were already read
      for (const int child : tree.draws(u))
        if (levels_.together(top, group[drawn++], level)) group[taken++] = child;
      group.resize(taken);
    }
    if (group.size() == 1) return {best, bin_of(best)};
    const int child = group[static_cast<std::size_t>(random.pick(UniformIndex{static_cast<int>(group.size())}))];
    return {child, bin_of(child)};
  }

  /// Chooses among children that were drawn without replacement.
  template <class Tree, class R>
  DRAFTPROOF_DEVICE Choice choose_distinct(const Tree& tree, int u, const L& distributions, R& random) const {
    int children[max_drafts], count = 0;
    Token tokens[max_drafts];
    for (const int child : tree.draws(u)) {
      tokens[count] = tree.token(child);
      children[count++] = child;
    }
    if (plain()) return {children[0], 0};
    struct {
      const Bins& bins;
      const LadderPlan<Scalar, Workspace>& plan;
      const LadderLevels<Scalar, Workspace>& levels;
    } const core{*bins_, plan_, levels_};
    const int child = children[count == 1 ? 0
                                          : draftproof::choose_distinct(
                                                DraftedPosition<L>(distributions, tokens, count), core, random)];
    return {child, bin(distributions, tree.token(child))};
  }

 private:
  /// Computes levels and distributions from the bins of the node.
  template <class Coverage>
  DRAFTPROOF_DEVICE void finish(const L& distributions, const Coverage& coverage, bool many_trials) {
    const auto& workspace = workspace_of(distributions);
    plan_ = plan_ladder(distributions, *bins_, coverage);
    levels_ = {workspace, plan_, many_trials};
    workspace.release_scratch();
    if constexpr (RankedBySums<L>) {
      reach_ = SelectedBins<L>::prefix_length(*bins_, plan_.slope);
      mass_ = {};
    }
    equal_ = false;
    // The residual of p has mass at least 1 - acceptance, so it can be empty only if the acceptance is near 1. In that
    // case q_chosen equals p up to rounding and is set to p, because a refusal could not emit anything. V roundings of
    // 2^-53 stay below 2^-20.
    if (!(plan_.acceptance < Scalar(1 - 0x1p-20)))
      equal_ = !(distributions.sum([this, rows = &seen_by_pass(distributions)](Token x) {
        return above(*rows, x, rows->one());
      }) > distributions.zero());
  }

  /// If two or more paths are active with less than this probability, a plan for one prefix gains less than it costs
  /// (docs/ladder.md), except if V <= few_tokens.
  static constexpr double rarely_two = 0x1p-8;
  /// Below this probability of two active paths, bins are coarse.
  static constexpr double seldom_two = 0x1p-3;

  /// q-mass above bin i; for i = n all of it.
  DRAFTPROOF_DEVICE Scalar mass_above(int i) const { return draftproof::mass_above(*bins_, plan_, i); }

  static constexpr bool by_team = PlannedByTeam<L>;
  struct Nothing {};

  Active active_;
  std::conditional_t<by_team, OwnBins<Bins>, std::shared_ptr<const Bins>>
      bins_;  ///< shared between nodes on the host
  LadderPlan<Scalar, Workspace> plan_;
  LadderLevels<Scalar, Workspace> levels_;
  bool equal_ = false;
  int reach_ = 0;
  mutable MassAtFactor mass_;  ///< cached residual mass for the last factor c, used with a ranking
  mutable std::conditional_t<by_team, Nothing, std::optional<ChosenTable<Scalar>>> left_over_;
};

}  // namespace draftproof
