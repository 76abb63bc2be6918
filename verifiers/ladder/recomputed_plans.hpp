// The ladders of one path's nodes, for a team whose memory holds one plan: the last plan stays there, and any other
// plan is recomputed when block verification returns to its node. For independent paths the distribution of the
// number of active paths is kept for each node, because it determines the plan.
//
//   begin, start, below    as in LadderPaths (path_plans.hpp); distinct for children without replacement
//   node(at, steps, i)     ladder at token i of the chosen path: the last one, or recomputed
//   place.distribution     start of the distribution of a node's paths in distributions_, which outlives plans
//
// Cost: one plan per node while the path is chosen, none for the first test, one for each further test at a node that
// is not plain; tests below the point where paths part need no plan. Distributions take K entries per node, most_kept
// in all. On a longer path, such as more than 16 nodes shared by 32 paths, later nodes are recomputed from the last
// distribution that is kept.
// Correctness: a plan is a function of rows and distribution, so recomputation gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/sim/trees/conditional_model.hpp>
#include <draftproof/verifiers/ladder/path_node.hpp>

namespace draftproof {

/// Number of entries for kept distributions, and for the two distributions in use.
inline constexpr int most_kept_of_distributions = 512, distributions_worked_on = 2 * max_drafts;
/// Memory of a team for both kinds of entries, in bytes.
inline constexpr std::size_t recomputed_plan_bytes =
    (most_kept_of_distributions + distributions_worked_on) * sizeof(double);

/// Recomputes plans of distributions that a team reads. One object per thread and output; all threads make the same
/// calls.
template <class L>
class PlanRecomputer {
 public:
  using Scalar = typename L::Scalar;
  using Node = LadderNode<L>;

  /// Where the distribution of a node's number of paths is kept, and its size.
  struct Place {
    static constexpr int plain = -1, starts = -2, not_kept = -3;  ///< special values of `distribution`
    std::int16_t distribution = plain, paths = 0;
  };
  DRAFTPROOF_DEVICE static bool plain(const Place& place) { return place.distribution == Place::plain; }

  /// Must be called before the first call of start() or below() for an output.
  DRAFTPROOF_DEVICE void begin(const DraftedTree<L>& at) {
    distributions_ =
        at.distributions(DraftTree::root).workspace().template retained<Scalar>(most_kept + distributions_worked_on);
  }

  // The functions below are not inlined, because inlining would spill registers of the loop over nodes.

  /// Plans node u, where all paths that leave u start together. Returns where the node's distribution is kept.
  [[gnu::noinline]] DRAFTPROOF_DEVICE Place start(const DraftedTree<L>& at, int u) {
    const int paths = at.tree().draw_count(u);
    if (paths > 1) plan(at, u, all_of(at, u, paths));
    return place(paths > 1 ? Place::starts : Place::plain, paths);
  }
  /// Plans node u, which the last node's choice reached through a token of bin `bin`. Returns where the node's
  /// distribution is kept.
  [[gnu::noinline]] DRAFTPROOF_DEVICE Place below(const DraftedTree<L>& at, int u, const Place& before, int bin) {
    const L from = at.distributions(at.tree().parent(u));
    const Token y = at.tree().token(u);
    if (plain(before) || last_.plain_after(from, y, bin)) return {};
    const int paths = before.paths;
    const bool keeps = kept_ + paths <= most_kept;
    Active distribution = keeps ? list(kept_, paths) : other_distribution(paths);
    last_.active_after(from, y, bin, distribution);
    if (Node::no_choice(at.distributions(u), distribution)) return {};
    plan(at, u, distribution);
    if (!keeps) return place(Place::not_kept, paths);
    kept_ += paths;
    return place(kept_ - paths, paths);
  }
  /// Returns the ladder for `place`, which must belong to the node that was planned last or to a plain node.
  DRAFTPROOF_DEVICE const Node& last(const Place& place) const { return plain(place) ? plain_ : last_; }
  /// Chooses a path at u. `place` belongs to u, which must be the node that was planned last or a plain node.
  template <class R>
  [[gnu::noinline]] DRAFTPROOF_DEVICE auto choose(const DraftedTree<L>& at, int u, const Place& place, R& random) {
    return last(place).choose(at.tree(), u, at.distributions(u), group_, random);
  }

  /// Returns the ladder at token i of `steps`. Requires that the node is not plain.
  template <class Steps>
  [[gnu::noinline]] DRAFTPROOF_DEVICE const Node& node(const DraftedTree<L>& at, const Steps& steps, int i) {
    if (last_at_ == steps.node(i)) return last_;
    int from = i;
    while (steps.place(from).distribution == Place::not_kept) --from;
    const auto [kept, paths] = steps.place(from);
    const int start = steps.node(from);
    plan(at, start, kept == Place::starts ? all_of(at, start, paths) : list(kept, paths));
    for (; from < i; ++from) {
      const L distributions = at.distributions(steps.node(from));
      const Token y = steps.token(from);
      Active distribution = other_distribution(paths);
      last_.active_after(distributions, y, last_.bin(distributions, y), distribution);
      plan(at, steps.node(from + 1), distribution);
    }
    return last_;
  }

 private:
  using Active = typename Node::Active;

  static constexpr int most_kept = most_kept_of_distributions;

  DRAFTPROOF_DEVICE static Place place(int distribution, int paths) {
    return {static_cast<std::int16_t>(distribution), static_cast<std::int16_t>(paths)};
  }
  DRAFTPROOF_DEVICE Active list(int begin, int paths) const { return {distributions_.data() + begin, paths}; }
  /// Returns the working list that does not hold the last node's distribution.
  DRAFTPROOF_DEVICE Active other_distribution(int paths) {
    working_ = !working_;
    return list(most_kept + (working_ ? max_drafts : 0), paths);
  }
  DRAFTPROOF_DEVICE Active all_of(const DraftedTree<L>& at, int u, int paths) {
    Active distribution = other_distribution(paths);
    at.distributions(u).workspace().each(
        paths, [&](int i) { distribution[static_cast<std::size_t>(i)] = i + 1 == paths ? 1 : 0; });
    return distribution;
  }
  [[gnu::noinline]] DRAFTPROOF_DEVICE void plan(const DraftedTree<L>& at, int u, const Active& distribution) {
    const L distributions = at.distributions(u);
    last_.plan(distributions, distribution,
               [&distributions](bool coarse) { return ladder_bins(distributions, coarse); });
    last_at_ = u;
  }

  const Node plain_{};
  Node last_;
  int last_at_ = -1;  ///< the node of last_
  Active distributions_;
  int kept_ = 0;
  bool working_ = false;
  ListAt<L, int, max_drafts> group_;  ///< for the choice at one node
};

/// The plans if children were drawn without replacement: a plan is a function of the rows and the number of children,
/// so no distribution is kept. The functions are as in LadderPaths.
template <class L>
class DistinctPlans {
 public:
  using Node = LadderNode<L>;
  struct Place {
    int children = 0;
  };
  DRAFTPROOF_DEVICE static bool plain(const Place& place) { return place.children < 2; }

  DRAFTPROOF_DEVICE void begin(const DraftedTree<L>&) {}
  // Not inlined, because inlining would spill registers of the loop over nodes.
  [[gnu::noinline]] DRAFTPROOF_DEVICE Place distinct(const DraftedTree<L>& at, int u) {
    const int children = at.tree().draw_count(u);
    if (children > 1) plan(at, u, children);
    return {children};
  }
  /// Returns the ladder for `place`, which must belong to the node that was planned last or to a plain node.
  DRAFTPROOF_DEVICE const Node& last(const Place& place) const { return plain(place) ? plain_ : last_; }
  template <class R>
  [[gnu::noinline]] DRAFTPROOF_DEVICE auto choose_distinct(const DraftedTree<L>& at, int u, const Place& place,
                                                           R& random) const {
    return last(place).choose_distinct(at.tree(), u, at.distributions(u), random);
  }
  /// Returns the ladder at token i of `steps`. Requires that the node is not plain.
  template <class Steps>
  [[gnu::noinline]] DRAFTPROOF_DEVICE const Node& node(const DraftedTree<L>& at, const Steps& steps, int i) {
    if (last_at_ != steps.node(i)) plan(at, steps.node(i), steps.place(i).children);
    return last_;
  }

 private:
  [[gnu::noinline]] DRAFTPROOF_DEVICE void plan(const DraftedTree<L>& at, int u, int children) {
    const L distributions = at.distributions(u);
    last_.plan_distinct(distributions, children,
                        [&distributions](bool coarse) { return ladder_bins(distributions, coarse); });
    last_at_ = u;
  }

  const Node plain_{};
  Node last_;
  int last_at_ = -1;  ///< the node of last_
};

}  // namespace draftproof
