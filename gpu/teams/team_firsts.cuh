// The first tokens of an order, found by a whole team: the token of the greatest value, and the k smallest
// candidates.
//
// Cost: team_greatest makes one pass and one reduction per call; team_smallest calls `scan` once on each thread and
// makes one reduction for each of the k candidates.
// Correctness: a reduction returns the earliest candidate among all threads, whatever the number of threads.
#pragma once

#include <draftproof/gpu/teams/team.hpp>
#include <draftproof/gpu/teams/team_search.cuh>
#include <draftproof/sim/sampling/exponential_race.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof::gpu {

/// Returns the token that follows `last` in the order of falling f, with ascending ids among equals; if `last` has no
/// token, returns the first token of this order. The time of the result is -f(x). `for_own(visit)` visits the tokens of
/// this thread.
template <Team T, class ForOwn, class F>
DRAFTPROOF_DEVICE Candidate team_greatest(const T& team, int vocabulary, const ForOwn& for_own, const F& f,
                                          const Candidate& last) {
  Candidate own;
  for_own([&](Token x) {
    const Candidate here{-f(x), x};
    const bool after = last.token == no_token || last.before(here);
    if (after && here.before(own)) own = here;
  });
  return team_first(team, own, vocabulary);
}

/// Returns the `wanted` smallest of all candidates that the threads' calls of `scan(own, thread, threads)` add to
/// `own`.
template <int most, Team T, class Scan>
DRAFTPROOF_DEVICE SmallestK<most> team_smallest(const T& team, int vocabulary, int wanted, const Scan& scan) {
  const int warps = team.warps() * team.partitions(), warp = team.partition() * team.warps() + team.warp();
  SmallestK<most> own(wanted), all(wanted);
  scan(own, warp * team.lanes() + team.lane(), warps * team.lanes());
  for (int used = 0; all.size() < wanted;) {
    const Candidate next = own[used], first = team_first(team, next, vocabulary);
    if (first.token == no_token) break;
    used += first.token == next.token && first.time == next.time;
    all.add(first);
  }
  return all;
}

}  // namespace draftproof::gpu
