// The plan of the ladder: which breaks between rungs stand at which level, and the law of the draft they select.
//
//   s_i, P_i   rungs.proposal_below(i), target_below(i)     q- and p-mass of the first i rungs
//   f(s)       coverage (coverage.hpp)                      probability that some draft falls in the first s of q
//   D_i        (P_i - f(s_i))+                              target mass that drafts above break i cannot serve
//   M_i        running maximum of D towards its argmax i*   from the left before i*, from the right after it
//   G_i        P_i - M_i                                    mass the selected draft has in the first i rungs
//   c_i        level of break i, in [0, 1]                  up with probability c_i
//
// Every concave G <= f with the same ends is a mixture of chords of f over nested sets of breaks; the levels are the
// times at which breaks leave while kinks of G are spent at the rate of f's (ladder_sweep.hpp). Buckets get a G of
// their own and are joined first (ladder_goal.hpp). Cost: O(n log n) values of f. Derived in docs/ladder.md.
#pragma once

#include <cstddef>
#include <vector>

#include <draftproof/sim/device/cooperative_memory.hpp>
#include <draftproof/sim/distributions/ratio_groups.hpp>
#include <draftproof/sim/numeric/ratio_buckets.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/verifiers/ladder/coverage.hpp>
#include <draftproof/verifiers/ladder/level_sweep.hpp>
#include <draftproof/verifiers/ladder/selected_law.hpp>

namespace draftproof {

/// p- over q-mass of each rung, from the tokens' own masses: differences of prefix sums lose the narrow ones.
template <class L, class Rungs>
std::vector<typename L::Scalar> rung_ratios(const L& laws, const Rungs& rungs) {
  std::vector<typename L::Scalar> p(static_cast<std::size_t>(rungs.size()), laws.zero()), q = p;
  for (Token x = 0; x < laws.vocabulary(); ++x)
    if (laws.proposal(x) > laws.zero()) {
      const auto rung = static_cast<std::size_t>(laws.rung(rungs, x));
      p[rung] += laws.target(x);
      q[rung] += laws.proposal(x);
    }
  for (std::size_t i = 0; i < p.size(); ++i) p[i] /= q[i];
  return p;
}

/// Memory that a team needs for rungs in buckets, their plan and its levels (team_room.cuh): lists that stay, and
/// those of the longest of three times, which are brief. Index is that of the room.
template <class Index>
constexpr std::size_t ladder_team_bytes() {
  constexpr std::size_t n = RatioBuckets::count, m = static_cast<std::size_t>(most_plan_stretches);
  constexpr std::size_t real = sizeof(double), index = sizeof(Index), lists = 32, notes = 1024;
  constexpr std::size_t rungs = 3 * n * real + 2 * real + n * index;
  constexpr std::size_t masses = 2 * 2 * (n + 1) * real;                 // of a share, and of the team
  constexpr std::size_t goal = 2 * (n + 1) * real + (3 * m + 2) * real;  // bounds, and to serve whole buckets
  constexpr std::size_t sweep = (m + 1) * sizeof(detail::LadderBreak<double, Index>) + 2 * m * (real + index) +
                                (m / 2 + 1) * 2 * real + n * real;
  constexpr std::size_t of_goal = (n + 1) * index + (2 * m + 1) * real + m, of_plan = n * real + m * index;
  constexpr std::size_t of_rungs = n * index, of_levels = n * index + (m + 2) * real;
  constexpr auto greater = [](std::size_t a, std::size_t b) { return a < b ? b : a; };
  constexpr std::size_t to_count = of_rungs + rungs + masses, to_aim = of_rungs + of_goal + rungs + goal;
  constexpr std::size_t to_spend = of_rungs + of_goal + of_plan + of_levels + sweep;
  return (greater(to_count, greater(to_aim, to_spend)) + notes + 16 * lists) / 16 * 16;
}

/// The plan on rungs of such ratios. Not inlined: compiled once for all laws that share a room.
template <class Scalar, class Room, class Rungs, class Ratios, class Coverage>
[[gnu::noinline]] DRAFTPROOF_DEVICE LadderPlan<Scalar, Room> make_ladder_plan(const Room& room, const Rungs& rungs,
                                                                              const Ratios& ratios,
                                                                              const Coverage& coverage,
                                                                              bool whole_buckets) {
  LadderPlan<Scalar, Room> plan;
  const auto goal = [&] {
    const detail::LadderBounds<Rungs, Scalar, Room> bounds(room, rungs, coverage);
    plan.acceptance = Scalar{1} - bounds.surplus();
    return detail::ladder_goal(room, bounds, ratios, whole_buckets);
  }();
  const int n = rungs.size();
  room.end_brief();
  detail::LadderSweep<Scalar, Coverage, Room>(room, goal, coverage).run(plan, n);
  if constexpr (requires { plan.corner; }) {
    plan.corner = goal.corner;
    plan.s = goal.s;
  }
  return plan;
}

/// The plan for i.i.d. drafts whose number `coverage` knows, on the rungs of `laws`. Buckets are served whole where
/// only the next token counts; where a path goes on, G = P - M accepts more of it (docs/ladder.md). Ends what is
/// brief in the room of the laws, among it the masses of rungs.
template <class L, class Rungs, class Coverage>
DRAFTPROOF_DEVICE LadderPlan<typename L::Scalar, RoomOf<L>> plan_ladder(const L& laws, const Rungs& rungs,
                                                                        const Coverage& coverage,
                                                                        bool whole_buckets = false) {
  const auto& ratios = [&]() -> decltype(auto) {
    if constexpr (requires { rungs.ratios(); })
      return rungs.ratios();
    else
      return rung_ratios(laws, rungs);
  }();
  return make_ladder_plan<typename L::Scalar>(room_of(laws), rungs, ratios, coverage, whole_buckets);
}

}  // namespace draftproof
