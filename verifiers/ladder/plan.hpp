// The plan of the ladder: the level of each break between bins, and the distribution of the selected draft.
//
//   s_i, P_i   bins.proposal_below(i), target_below(i)     q- and p-mass of the first i bins
//   f(s)       coverage (coverage.hpp)                     probability that some draft falls in the first s of q
//   D_i        (P_i - f(s_i))+                             target mass above break i that drafts there cannot provide
//   M_i        running maximum of D towards its argmax i*  from the left before i*, from the right after it
//   G_i        P_i - M_i                                   mass of the selected draft in the first i bins
//   c_i        level of break i, in [0, 1]                 up with probability c_i
//
// If bins are buckets, G is another function, and buckets are joined before the sweep (selected_distribution.hpp). A
// coverage that is approximate until then is computed exactly at the remaining breaks, and G is computed from it
// again.
// Cost: O(n log n) values of f.
// Correctness: every concave G <= f with the same ends is a mixture of interpolants of f over nested sets of breaks.
// The levels are the times at which breaks leave while each kink of G falls at the rate of the kink of f there
// (level_sweep.hpp). Derived in docs/ladder.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <draftproof/sim/device/cooperative_memory.hpp>
#include <draftproof/sim/distributions/ratio_bins.hpp>
#include <draftproof/sim/distributions/ratio_table_view.hpp>
#include <draftproof/sim/numeric/ratio_buckets.hpp>
#include <draftproof/sim/sampling/alias_table.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/verifiers/ladder/coverage.hpp>
#include <draftproof/verifiers/ladder/level_sweep.hpp>
#include <draftproof/verifiers/ladder/levels.hpp>
#include <draftproof/verifiers/ladder/race_step.hpp>
#include <draftproof/verifiers/ladder/selected_distribution.hpp>

namespace draftproof {

// A view of a ladder's plan for one table: the addresses of its arrays, so that it can be a kernel argument. One
// thread decides a trial with it, on the host or on a device; the arrays lie in the memory of either.
//
//   bins       by token, -1 where q = 0                                     [V]
//   slope      of each bin                                                  [n]
//   levels     distinct levels, and the range maxima of ranks               [m], [n log n]
//   residual   alias table of (p - p_I)+                                    [V]
//
// Correctness: the view refers to the arrays of the plan, and the same code reads them (verifiers/ladder.hpp).

/// The levels of a ladder by the addresses of their arrays.
struct LevelsView {
  ListView<double> distinct;
  RangeSearch ranks;

  using Interval = std::uint32_t;
  template <class R>
  DRAFTPROOF_DEVICE Interval draw(R& random) const {
    return static_cast<Interval>(random.pick(LevelIntervals<double, ListView<double>>{distinct}));
  }
  DRAFTPROOF_DEVICE bool together(int top, int bin, Interval u) const {
    return bin == top || ranks.of(top + 1, bin + 1) <= u;
  }
};

/// Draws from an alias table; draws no token from an empty one.
struct AliasView {
  const std::uint64_t* cells;
  const std::uint32_t* rests;
  std::size_t size;

  DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const {
    return size == 0 ? no_token : alias_draw(cells, rests, size, word);
  }
  /// Does nothing: a view only draws, and enumeration uses the table.
  template <class Visit>
  DRAFTPROOF_DEVICE void for_each(Visit) const {}
};

/// The plan of a ladder by the addresses of its arrays.
struct LadderView {
  const int* bins;
  const double* slope;
  LevelsView levels;
  AliasView residual;
  bool nothing_left;

  DRAFTPROOF_DEVICE const LadderView& core() const { return *this; }
  DRAFTPROOF_DEVICE int bin(const TableView&, Token x) const { return bins[x]; }
  DRAFTPROOF_DEVICE double selected(const TableView& distributions, Token x) const {
    const double q = distributions.proposal(x);
    return q > 0 ? q * slope[bins[x]] : 0.0;
  }
};

/// A view of a table with the calls that plans need. Used on the host only, because plans are made there.
struct PlanningView : TableView {
  explicit PlanningView(const TableView& view) : TableView{view} {}

  TokenBins<double> bins() const {
    std::size_t skipped = 0;
    while (skipped < ratios.size && !(proposal(order()[skipped]) > 0)) ++skipped;
    return {*this, std::vector<Token>(order() + skipped, order() + ratios.size),
            std::span(prefix() + skipped, ratios.size + 1 - skipped)};
  }
  int bin(const TokenBins<double>& bins, Token x) const { return bins.of(x); }
  template <class F>
  auto alias_weights(F f) const {
    std::vector<double> values;
    for (Token x = 0; x < vocabulary(); ++x) values.push_back(f(x));
    return AliasWeights(std::move(values));
  }
};

/// Verifiers whose plan for a table has view(place), which can be a kernel argument.
template <class V>
concept ViewsPlans = requires {
  typename V::TablePlan;
};

/// Memory in bytes that a team needs for bins in buckets, their plan and its levels (gpu/teams/team_workspace.cuh):
/// the persistent lists and the largest of the three sets of scratch lists. Index is the workspace's type of indices.
template <class Index>
constexpr std::size_t ladder_team_bytes() {
  constexpr std::size_t n = RatioBuckets::count, m = static_cast<std::size_t>(most_plan_stretches);
  constexpr std::size_t real = sizeof(double), index = sizeof(Index), lists = 32, notes = 1024;
  constexpr std::size_t bins = 3 * n * real + 2 * real + n * index;
  constexpr std::size_t masses = 2 * 2 * (n + 1) * real;                 // sums of a thread's share, and of the team
  constexpr std::size_t goal = 2 * (n + 1) * real + (3 * m + 2) * real;  // bounds, and lists of serve_whole_buckets
  constexpr std::size_t sweep = (m + 1) * sizeof(detail::LadderBreak<double, Index>) + 2 * m * (real + index) +
                                (m / 2 + 1) * 2 * real + n * real;
  constexpr std::size_t of_goal = (n + 1) * index + (2 * m + 1) * real + m, of_plan = n * real + m * index;
  constexpr std::size_t of_bins = n * index, of_levels = n * index + (m + 2) * real;
  constexpr auto greater = [](std::size_t a, std::size_t b) { return a < b ? b : a; };
  constexpr std::size_t to_count = of_bins + bins + masses, to_aim = of_bins + of_goal + bins + goal;
  constexpr std::size_t to_spend = of_bins + of_goal + of_plan + of_levels + sweep;
  return (greater(to_count, greater(to_aim, to_spend)) + notes + 16 * lists) / 16 * 16;
}

/// Memory in bytes for a plan of drafts without replacement (team_race.hpp): the buckets' lists, the heavy tokens and
/// the largest of: the rough F with its times, the sums of powers between breaks, the sweep of the plan.
template <class Index>
constexpr std::size_t ladder_wor_team_bytes() {
  constexpr std::size_t n = RatioBuckets::count, m = static_cast<std::size_t>(most_plan_stretches);
  constexpr std::size_t real = sizeof(double), index = sizeof(Index), lists = 48, notes = 2048;
  constexpr std::size_t heavy = 2 * sizeof(std::int32_t) * RaceBounds::most_heavy;
  constexpr std::size_t kept = 2 * (n + 1) * index + n * real;                        // buckets, corners, chords
  constexpr std::size_t bins = 3 * n * real + 2 * real + n * index + (n + 1) * real;  // bins, and F
  constexpr std::size_t counting = 2 * 2 * n * real;  // sums of a partition, and of the team
  constexpr std::size_t rough =
      (3 * n + RoughStep::most_counts + 2 * RoughStep::most_times + (2 + 2 * 16) * max_drafts) * real;
  constexpr std::size_t chords = (2 + 8 + 2 + 4) * m * real + 2 * 512 * real;  // includes the terms of 512 threads
  constexpr std::size_t pairs = 2 * n * real + counting + n * real + n;
  constexpr auto greater = [](std::size_t a, std::size_t b) { return a < b ? b : a; };
  constexpr std::size_t race =
      kept + bins + heavy + greater(greater(rough, chords), greater(pairs, heavy + counting));
  return greater(race + notes + 16 * lists, ladder_team_bytes<Index>() + 2 * n * real) / 16 * 16;
}

/// Returns the plan on bins with the given ratios p / q. Not inlined, so that it is compiled once per type of
/// workspace.
template <class Scalar, class Workspace, class Bins, class Ratios, class Coverage>
[[gnu::noinline]] DRAFTPROOF_DEVICE LadderPlan<Scalar, Workspace> make_ladder_plan(const Workspace& workspace,
                                                                                   const Bins& bins,
                                                                                   const Ratios& ratios,
                                                                                   const Coverage& coverage,
                                                                                   bool whole_buckets) {
  LadderPlan<Scalar, Workspace> plan;
  const auto spend = [&](const auto& bounds, const auto& covered, const auto& corner) {
    plan.acceptance = Scalar{1} - bounds.surplus();
    const auto goal = detail::ladder_goal(workspace, bounds, ratios, whole_buckets, corner);
    workspace.release_scratch();
    detail::LadderSweep<Scalar, Coverage, Workspace>(workspace, goal, covered).run(plan, bins.size());
    if constexpr (requires { plan.corner; }) {
      plan.corner = goal.corner;
      plan.s = goal.s;
    }
  };
  using Bounds = detail::LadderBounds<Bins, Scalar, Workspace>;
  [[maybe_unused]] unsigned mark = 0;
  if constexpr (requires { workspace.brief_so_far(); }) mark = workspace.brief_so_far();
  const Bounds bounds(workspace, bins, coverage);
  const auto corner = detail::standing_corners(workspace, bounds, ratios, whole_buckets);
  if constexpr (requires { coverage.refined(corner); }) {
    if (coverage.rough()) {
      if constexpr (requires { workspace.end_brief_after(mark); }) workspace.end_brief_after(mark);  // frees `bounds`
      const auto exact = coverage.refined(corner);
      spend(Bounds(workspace, bins, exact), exact, corner);
      return plan;
    }
  }
  spend(bounds, coverage, corner);
  return plan;
}

/// Returns the plan for i.i.d. drafts whose number has the distribution of `coverage`, on the bins of
/// `distributions`. `whole_buckets` chooses G such that buckets lose no acceptance: best if only the next token
/// counts; on paths G = P - M accepts more (docs/ladder.md). Releases the scratch lists of the workspace, which
/// include the masses of bins.
template <class L, class Bins, class Coverage>
DRAFTPROOF_DEVICE LadderPlan<typename L::Scalar, WorkspaceOf<L>> plan_ladder(const L& distributions, const Bins& bins,
                                                                             const Coverage& coverage,
                                                                             bool whole_buckets = false) {
  return make_ladder_plan<typename L::Scalar>(workspace_of(distributions), bins, bins.ratios(), coverage,
                                              whole_buckets);
}

}  // namespace draftproof
