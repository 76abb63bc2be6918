// Sums of two integers of every token, by place, over a whole team: histograms beyond that of p and q
// (team_masses.cuh).
//
//   own    [2 places]    sums of a partition in its memory
//   all    the same      sums of the team, in the memory of every partition
//
// Cost: one pass over the rows; a lane adds to memory when the place changes.
// Correctness: integer sums do not depend on the order of additions.
#pragma once

#include <cstddef>

#include <draftproof/gpu/teams/team_masses.cuh>
#include <draftproof/gpu/teams/team_workspace.cuh>
#include <draftproof/sim/numeric/fixed_point.hpp>

namespace draftproof::gpu {

/// Makes the sums in the scratch of the workspace: those of place i are entries 2 i and 2 i + 1. `term(x)` has members
/// place, -1 for none, first and second. All threads of a team call it together.
template <Team T, class ForOwn, class Term>
DRAFTPROOF_DEVICE ListsOfTeams::List<Fixed> sums_by_place(const T& team,
                                                          const TeamWorkspace<PartitionOf<T>>& workspace, int places,
                                                          const ForOwn& for_own, const Term& term) {
  auto own = workspace.template scratch<Fixed>(2 * places), all = own;
  if (team.partitions() > 1) all = workspace.template scratch<Fixed>(2 * places);
  workspace.each(2 * places, [&](int i) { own[static_cast<std::size_t>(i)] = 0; });
  int place = -1;
  Fixed first = 0, second = 0;
  const auto tell = [&] {
    if (first != 0) team.add_shared(own[2 * static_cast<std::size_t>(place)], first);
    if (second != 0) team.add_shared(own[2 * static_cast<std::size_t>(place) + 1], second);
    first = second = 0;
  };
  for_own([&](Token x) {
    const auto here = term(x);
    if (here.place < 0) return;
    if (here.place != place) {
      tell();
      place = here.place;
    }
    first += here.first;
    second += here.second;
  });
  tell();
  workspace.meet();
  add_up_partitions(team, own.data(), all.data(), 2 * places);
  return all;
}

}  // namespace draftproof::gpu
