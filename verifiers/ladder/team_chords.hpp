// Chords of F between the breaks of a plan of drafts without replacement (race_integral.hpp), by a team of a device: a
// thread holds one time and takes the bins from the last to the first.
//
//   light    integer sums of powers between neighbouring breaks: four passes of the whole team
//   terms    of a bin at all times, added up in the host's order by four threads a bin
//
// Cost: O(K^2) operations a bin and O(K) a heavy token on every time; times in turn where there are more than threads.
// Correctness: the operations of race_step.hpp, in the host's order.
#pragma once

#include <cstddef>

#include <draftproof/sim/device/cooperative_memory.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/verifiers/ladder/race_step.hpp>
#include <draftproof/verifiers/ladder/team_clocks.hpp>

namespace draftproof {

/// Sets entry power * m + j to the sum of that power over the light tokens between breaks j and j + 1, m of them.
template <PlannedByTeam L, class Bins, class Breaks>
[[gnu::noinline]] DRAFTPROOF_DEVICE void team_stretch_powers(const L& laws, const Bins& bins,
                                                             const TeamClocks<L, Bins>& clocks, const Breaks& breaks,
                                                             const ListIn<WorkspaceOf<L>, Fixed>& light) {
  constexpr auto at = [](int i) { return static_cast<std::size_t>(i); };
  constexpr int most_powers = static_cast<int>(LightSums::powers);
  const int m = static_cast<int>(breaks.size()) - 1;
  const auto bin = [&](int j) { return static_cast<int>(breaks[at(j)]); };
  const unsigned mark = laws.workspace().brief_so_far();
  auto stretch = laws.workspace().template scratch<typename WorkspaceOf<L>::Index>(bins.size());
  laws.workspace().each(m, [&](int j) {
    for (int i = bin(j); i < bin(j + 1); ++i) stretch[at(i)] = static_cast<typename WorkspaceOf<L>::Index>(j);
  });
  for (int power = 1; power <= most_powers; power += 2) {
    const unsigned sums_mark = laws.workspace().brief_so_far();
    const auto sums =
        clocks.powers(m, power, [&](Token x) { return static_cast<int>(stretch[at(laws.bin(bins, x))]); });
    laws.workspace().each(m, [&](int j) {
      light[at(power * m + j)] = sums[2 * at(j)];
      if (power < most_powers) light[at((power + 1) * m + j)] = sums[2 * at(j) + 1];
    });
    laws.workspace().end_brief_after(sums_mark);
  }
  laws.workspace().end_brief_after(mark);
}

/// Sets mass and chord between neighbours of `breaks`; returns from which of these bins on, but the first, fewer tokens
/// are left than drafts. All threads call it together.
template <PlannedByTeam L, class Bins, class Breaks>
[[gnu::noinline]] DRAFTPROOF_DEVICE int team_race_chords(const L& laws, const Bins& bins,
                                                         const TeamClocks<L, Bins>& clocks, int drafts,
                                                         const Breaks& breaks,
                                                         const ListIn<WorkspaceOf<L>, double>& mass,
                                                         const ListIn<WorkspaceOf<L>, double>& chord) {
  constexpr auto at = [](int i) { return static_cast<std::size_t>(i); };
  constexpr int most_powers = static_cast<int>(LightSums::powers);
  const int m = static_cast<int>(breaks.size()) - 1;
  const auto bin = [&](int j) { return static_cast<int>(breaks[at(j)]); };
  auto above = laws.workspace().template scratch<double>(m);
  auto light = laws.workspace().template scratch<Fixed>((most_powers + 1) * m);
  team_stretch_powers(laws, bins, clocks, breaks, light);
  laws.workspace().each(m, [&](int j) {
    mass[at(j)] = clocks.unit().value(light[at(m + j)], 1);
    clocks.for_heavy(bin(j), bin(j + 1), [&](double q) { mass[at(j)] += q; });
  });
  const auto decided = clocks.decided(m, bin, [&](int j) { return light[at(m + j)] > 0; });
  laws.workspace().once([&] {
    double before = 0;
    for (int j = 0; j < m; ++j) {
      above[at(j)] = before;
      before += mass[at(j)];
    }
  });

  const RaceTimes times(drafts);
  const int count = 4 * times.groups(clocks.slowest()), first_octave = 4 * times.an_octave;
  constexpr int batch = 2;
  auto sums = laws.workspace().template scratch<double>(4 * m);
  auto terms = laws.workspace().template scratch<double>(batch * laws.workspace().threads());
  laws.workspace().each(4 * m, [&](int i) { sums[at(i)] = 0; });
  using Cell = RaceCell<1>;
  using Step = RaceStep<Cell>;
  Cell counts_of[max_drafts], own_of[max_drafts];
  const typename Step::Column counts{counts_of}, rung_own{own_of};
  const std::size_t all = static_cast<std::size_t>(drafts);
  for (int first = 0; first < count; first += laws.workspace().threads()) {
    const int i = first + laws.workspace().thread(), octave = i / first_octave;
    double start = times.first(i % first_octave / 4, i % 4), time = start, below = 1;
    for (int k = 0; k < octave; ++k) time *= 2;
    Step::start(all, counts);
    const auto rung_by = [&](double rate) {
      double rung;
      Step::rung_by(start * rate, rung);
      for (int k = 0; k < octave; ++k) Step::double_time(rung, rung);
      return rung;
    };
    for (int last = m; last > 0; last -= batch) {
      for (int b = 0; b < batch && b < last; ++b) {
        const int j = last - 1 - b;
        if (light[at(m + j)] > 0) {
          LightSums sum;
          for (int power = 1; power <= most_powers; ++power)
            sum.of[power] = clocks.unit().value(light[at(power * m + j)], power);
          Step::ring_light(time, rung_by(sum.of[1]), sum, all, rung_own);
        } else {
          Step::start(all, rung_own);
        }
        clocks.for_heavy(bin(j), bin(j + 1), [&](double q) { Step::ring(rung_by(q), all, rung_own); });
        double term;
        Step::integrand(time, rung_by(above[at(j)]), above[at(j)], mass[at(j)], all, rung_own, counts, below, term);
        terms[at(b * laws.workspace().threads() + laws.workspace().thread())] = i < count ? term : 0;
        Step::join(all, rung_own, counts, below);
        if (laws.workspace().of_first_in_four(below) < RaceTimes::spent) Step::drop(all, counts, below);
      }
      laws.workspace().meet();
      laws.workspace().each(4 * (batch < last ? batch : last), [&](int k) {
        double& sum = sums[at(4 * (last - 1 - k / 4) + k % 4)];
        for (int t = k % 4; t < laws.workspace().threads(); t += 4)
          sum += terms[at(k / 4 * laws.workspace().threads() + t)];
      });
    }
  }
  laws.workspace().each(m, [&](int j) {
    double total = mass[at(j)] * times.before_start(above[at(j)], mass[at(j)]);
    for (int lane = 0; lane < 4; ++lane) total += sums[at(4 * j + lane)];
    chord[at(j)] = j < decided.first_short ? times.step() * total / mass[at(j)] : j == 0 ? 1 / mass[at(j)] : 0;
  });
  return decided.place;
}

}  // namespace draftproof
