// The rough F of drafts without replacement (rough_race.hpp), by a team of a device: threads hold times, then terms, then
// bins.
//
// Cost: one pass over the rows; for each heavy token and for each bin with one, a few steps of all threads.
// Correctness: the host's operations; sums over times go in its order, by one thread a term.
#pragma once

#include <cstddef>

#include <draftproof/sim/device/cooperative_memory.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/verifiers/ladder/rough_step.hpp>
#include <draftproof/verifiers/ladder/team_clocks.hpp>

namespace draftproof {

/// Sets `covered` to the rough F at every break, from 0 to the number of bins. All threads call it together.
template <PlannedByTeam L, class Bins>
[[gnu::noinline]] DRAFTPROOF_DEVICE void team_rough_coverage(const L& laws, const Bins& bins,
                                                             const TeamClocks<L, Bins>& clocks, int drafts,
                                                             const ListIn<WorkspaceOf<L>, double>& covered) {
  constexpr auto at = [](int i) { return static_cast<std::size_t>(i); };
  const int n = bins.size();
  const RoughStep rough(drafts);
  auto above = laws.workspace().template scratch<double>(n), light = laws.workspace().template scratch<double>(n),
       squares = laws.workspace().template scratch<double>(n);
  const unsigned mark = laws.workspace().brief_so_far();
  const auto sums = clocks.powers(n, 1, [&](Token x) { return laws.bin(bins, x); });
  laws.workspace().each(n, [&](int i) {
    light[at(i)] = clocks.unit().value(sums[2 * at(i)], 1);
    squares[at(i)] = clocks.unit().value(sums[2 * at(i) + 1], 2);
    covered[at(i)] = light[at(i)];  // until the end: the mass of the bin
    clocks.for_heavy(i, i + 1, [&](double q) { covered[at(i)] += q; });
  });
  laws.workspace().end_brief_after(mark);
  laws.workspace().once([&] {
    double before = 0, below = 0, below_squares = 0;
    for (int i = 0; i < n; ++i) {
      above[at(i)] = before;
      before += covered[at(i)];
    }
    for (int i = n; i-- > 1;) {
      light[at(i)] = below += light[at(i)];
      squares[at(i)] = below_squares += squares[at(i)];
    }
  });

  const int times = rough.times(clocks.slowest());
  constexpr int tile = 16;
  auto time = laws.workspace().template scratch<double>(times),
       decay = laws.workspace().template scratch<double>(times),
       rung = laws.workspace().template scratch<double>(times * drafts),
       rough_sum = laws.workspace().template scratch<double>(drafts),
       corrections = laws.workspace().template scratch<double>(drafts),
       rough_part = laws.workspace().template scratch<double>(tile * drafts),
       correction_part = laws.workspace().template scratch<double>(tile * drafts);
  laws.workspace().each(rough.an_octave, [&](int phase) {
    time[at(phase)] = rough.first(phase);
    for (int t = phase + rough.an_octave; t < times; t += rough.an_octave)
      time[at(t)] = 2 * time[at(t - rough.an_octave)];
  });
  laws.workspace().each(times * drafts, [&](int i) { rung[at(i)] = i < times ? 1 : 0; });
  const auto decay_by = [&](double rate) {
    laws.workspace().each(rough.an_octave, [&](int phase) {
      decay[at(phase)] = rough.first_decay(phase, rate);
      for (int t = phase + rough.an_octave; t < times; t += rough.an_octave)
        decay[at(t)] = decay[at(t - rough.an_octave)] * decay[at(t - rough.an_octave)];
    });
  };
  const auto ring = [&](double q) {
    decay_by(q);
    laws.workspace().each(times, [&](int t) {
      for (int k = drafts; k-- > 1;) {
        double& here = rung[at(k * times + t)];
        const double fewer = rung[at((k - 1) * times + t)];
        here = fewer + decay[at(t)] * (here - fewer);
      }
      rung[at(t)] *= decay[at(t)];
    });
  };
  const auto integrate_rough = [&](double slow) {
    decay_by(slow);
    laws.workspace().each(drafts, [&](int m) { rough_sum[at(m)] = corrections[at(m)] = 0; });
    for (int first = 0; first < times; first += tile) {
      const int count = times - first < tile ? times - first : tile;
      laws.workspace().each(count, [&](int i) {
        rough.template terms<false>(time[at(first + i)], decay[at(first + i)], slow, rung.data() + first + i, times,
                                    rough_part.data() + i, correction_part.data() + i, tile);
      });
      laws.workspace().each(drafts, [&](int m) {
        for (int i = 0; i < count; ++i) {
          rough_sum[at(m)] += rough_part[at(m * tile + i)];
          corrections[at(m)] += correction_part[at(m * tile + i)];
        }
      });
    }
  };
  bool stale = true;
  for (int i = n - 1; i > 0;) {
    clocks.for_heavy(i, i + 1, [&](double q) {
      ring(q);
      stale = true;
    });
    if (stale) integrate_rough(above[at(i)] + light[at(i)]);
    stale = false;
    int next = i - 1;  // the next bin with a heavy token, or 0
    while (next > 0 && !clocks.has_heavy(next)) --next;
    laws.workspace().each(i - next, [&](int j) {
      const int bin = i - j;
      covered[at(bin)] =
          rough.covered(above[at(bin)], light[at(bin)], squares[at(bin)], rough_sum.data(), corrections.data());
    });
    i = next;
  }
  laws.workspace().each(1, [&](int) {
    covered[0] = 0;
    covered[at(n)] = 1;
  });
}

}  // namespace draftproof
