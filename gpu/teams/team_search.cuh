// Searches by a team: the token of a word among weights after their pass, and the first arrival of all threads.
#pragma once

#include <cstdint>

#include <draftproof/gpu/teams/team.hpp>
#include <draftproof/sim/random/uniform_source.hpp>

namespace draftproof::gpu {

/// A term in units of 2^-60, truncated. Scaling a float by 2^60 is exact in float, which saves one of two
/// conversions.
DRAFTPROOF_DEVICE inline Fixed to_units(double term) { return to_fixed(term); }
DRAFTPROOF_DEVICE inline Fixed to_units(float term) { return static_cast<Fixed>(term * 0x1p60f); }

/// Returns the first i in [first, last) at which the running sum of term(i) exceeds `left`, and reduces `left` by the
/// terms before it. Every warp computes it in full; all its lanes make the same number of iterations.
template <Team T, class Term>
DRAFTPROOF_DEVICE int team_find(const T& team, int first, int last, Fixed& left, const Term& term) {
  for (int start = first; start < last; start += team.lanes()) {
    const int i = start + team.lane();
    const Fixed own = i < last ? term(i) : Fixed{0};
    const Fixed running = team.lane_running_sum(own);
    const int hit = team.first_lane(running > left);
    if (hit < team.lanes()) {
      left -= team.lane_get(running - own, hit);
      return start + hit;
    }
    left -= team.lane_get(running, team.lanes() - 1);
  }
  return last;  // not reached: left is below the sum of all terms
}

/// Returns the token of `word` among weights f, after a pass over f with this total, whose segments' sums are those
/// from `sums` on; no_token if all weights are zero.
template <Team T, class F>
DRAFTPROOF_DEVICE Token team_search(const T& team, const TeamLayout& layout, int sums, Fixed total,
                                    std::uint64_t word, const F& f) {
  if (total <= 0) return no_token;
  auto left = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(total)));
  const int segment = team_find(team, 0, layout.segments, left, [&team, sums](int i) { return team.get(sums + i); });
  return team_find(team, layout.begin(segment), layout.end(segment), left, [&f](Token x) { return to_units(f(x)); });
}

/// Returns the earliest of the lanes' arrivals, on all lanes of the warp.
template <Team T>
DRAFTPROOF_DEVICE Candidate lane_first(const T& team, const Candidate& own, int vocabulary) {
  // The lexicographic minimum by two maxima. A lane without an arrival loses even to an infinite time, because its
  // token comes after all others.
  const Token none = vocabulary, token = own.token == no_token ? none : own.token;
  const double time = -team.lane_max(-own.time);
  const Token first = -team.lane_max(own.time == time ? -token : -none);
  return first == none ? Candidate{} : Candidate{time, first};
}

/// Returns the earliest of the threads' arrivals, on all threads of the team.
template <Team T>
DRAFTPROOF_DEVICE Candidate team_first(const T& team, const Candidate& own, int vocabulary) {
  const Candidate mine = lane_first(team, own, vocabulary);
  team.barrier();  // a slower warp may still read earlier arrivals
  team.put_first(mine);
  team.barrier();
  Candidate best;
  for (int warp = team.lane(); warp < team.warps() * team.partitions(); warp += team.lanes())
    if (const Candidate other = team.first(warp); other.before(best)) best = other;
  return lane_first(team, best, vocabulary);
}

}  // namespace draftproof::gpu
