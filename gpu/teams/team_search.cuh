// Searches by a team: the token that random bits select after a pass, and the first arrival of all threads.
#pragma once

#include <cstdint>

#include <draftproof/gpu/teams/team.hpp>
#include <draftproof/sim/random/uniform_source.hpp>

namespace draftproof::gpu {

/// Returns a term in units of 2^-60, truncated. Scaling a float by 2^60 is exact in float, so it need not be converted
/// to double first.
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

/// Returns the same i as team_find, but each lane first sums a run of consecutive terms, and one running sum over lanes
/// finds the run. This takes two rounds for up to lanes^2 terms.
template <Team T, class Term>
DRAFTPROOF_DEVICE int team_find_by_runs(const T& team, int first, int last, Fixed& left, const Term& term) {
  const int run = (last - first + team.lanes() - 1) / team.lanes(), begin = first + team.lane() * run;
  const int end = last - begin < run ? last : begin + run;
  Fixed own = 0;
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
  for (int i = begin; i < end; ++i) own += term(i);
  const Fixed running = team.lane_running_sum(own);
  const int hit = team.first_lane(running > left);
  if (hit == team.lanes()) return last;  // not reached: left is below the sum of all terms
  left -= team.lane_get(running - own, hit);
  const int found = first + hit * run;
  return team_find(team, found, last - found < run ? last : found + run, left, term);
}

/// Returns the segment in which the running sum exceeds `left`, after a pass that put the segments' sums at `sums`
/// and later indices, and reduces `left` by the sums before it.
template <Team T>
DRAFTPROOF_DEVICE int team_segment(const T& team, const TeamLayout& layout, int sums, Fixed& left) {
  return team_find_by_runs(team, 0, layout.segments, left, [&team, sums](int i) { return team.get(sums + i); });
}

/// Returns the token of a segment at which the running sum of the weights f exceeds `left`.
template <Team T, class F>
DRAFTPROOF_DEVICE Token team_token(const T& team, const TeamLayout& layout, int segment, Fixed left, const F& f) {
  return team_find_by_runs(team, layout.begin(segment), layout.end(segment), left,
                           [&f](Token x) { return to_units(f(x)); });
}

/// Returns the earliest of the lanes' arrivals, on all lanes of the warp.
template <Team T>
DRAFTPROOF_DEVICE Candidate lane_first(const T& team, const Candidate& own, int vocabulary) {
  // Two maxima of negated values give the lexicographic minimum of (time, token). A lane without an arrival has
  // infinite time and a token above all others, so it comes after every arrival.
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
