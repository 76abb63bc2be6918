// F of drafts without replacement, as a team of a device computes it together for a plan on buckets: the device's form
// of WorCoverage (coverage.hpp), with the same bits.
//
//   K = 2     sums of q / (1 - q) by powers
//   K > 2     a rough F (below), then chords between the breaks that are left (team_clocks.hpp)
//
// Cost: 2 + 4 passes over the rows for K > 2; two reductions a draft; the operations of the host's plan, over threads.
// Correctness: sums over tokens are integers; all others go in the host's order, by one thread each.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/sim/device/cooperative_memory.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/verifiers/ladder/rough_race.hpp>
#include <draftproof/verifiers/ladder/team_clocks.hpp>

namespace draftproof {

// The rough F of drafts without replacement (rough_race.hpp), by a team of a device: threads hold times, then terms, then
// bins.
//
// Cost: one pass over the rows; for each heavy token and for each bin with one, a few steps of all threads.
// Correctness: the host's operations; sums over times go in its order, by one thread a term.

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

/// One object per thread; every call but covered() and chord() is collective.
template <PlannedByTeam L, class Bins>
class TeamWorCoverage {
 public:
  static constexpr bool by_place = true;
  using Workspace = WorkspaceOf<L>;

  /// F of `drafts` >= 1 drafts on these bins; rough for more than two. Refers to the laws and the bins.
  [[gnu::noinline]] DRAFTPROOF_DEVICE TeamWorCoverage(const L& laws, const Bins& bins, int drafts)
      : laws_{&laws}, bins_{&bins}, drafts_{drafts}, chord_{own().template persistent<double>(bins.size())} {
    const int n = bins.size();
    if (drafts < 3) mass_ = own().template persistent<double>(n);
    covered_ = own().template scratch<double>(n + 1);
    if (drafts == 1) {
      own().each(n, [&](int i) {
        covered_[at(i)] = bins.proposal_below(i);
        mass_[at(i)] = bins.proposal_below(i + 1) - bins.proposal_below(i);
        chord_[at(i)] = 1;
      });
      own().each(1, [&](int) { covered_[at(n)] = bins.proposal_below(n); });
      return;
    }
    clocks_ = TeamClocks<L, Bins>(laws, bins, drafts);
    const unsigned mark = own().brief_so_far();
    if (drafts == 2)
      pairs();
    else
      team_rough_coverage(*laws_, *bins_, clocks_, drafts, covered_);
    own().end_brief_after(mark);
  }

  DRAFTPROOF_DEVICE bool rough() const { return drafts_ > 2; }
  /// F with the chords of the race between neighbours of these breaks.
  template <class Breaks>
  [[gnu::noinline]] DRAFTPROOF_DEVICE TeamWorCoverage refined(const Breaks& breaks) const {
    const unsigned mark = own().brief_so_far();
    const int m = static_cast<int>(breaks.size()) - 1;
    const auto n = [&breaks](int j) { return static_cast<int>(breaks[at(j)]); };
    auto chord = own().template scratch<double>(m), covered = own().template scratch<double>(m + 1);
    auto mass = own().template scratch<double>(m);
    const int decided = team_race_chords(*laws_, *bins_, clocks_, drafts_, breaks, mass, chord);
    add_up(mass, chord, covered, decided);
    // Between breaks the rough F, moved as at the breaks.
    own().each(m + 1, [&](int j) { covered[at(j)] -= covered_[at(n(j))]; });
    own().each(m, [&](int j) {
      const int a = n(j), b = n(j + 1);
      const double left = covered[at(j)], right = covered[at(j + 1)];
      for (int i = a; i < b; ++i) {
        const double part = static_cast<double>(i - a) / (b - a);
        covered_[at(i)] += left + part * (right - left);
        chord_[at(i)] = chord[at(j)];
      }
    });
    own().end_brief_after(mark);
    return *this;
  }

  DRAFTPROOF_DEVICE double covered(int i) const { return covered_[at(i)]; }
  DRAFTPROOF_DEVICE double chord(int a, int b) const {
    if (drafts_ > 2 || b == a + 1) return chord_[at(a)];
    double rise = 0, width = 0;
    for (int i = a; i < b; ++i) {
      rise += mass_[at(i)] * chord_[at(i)];
      width += mass_[at(i)];
    }
    return rise / width;
  }

 private:
  template <class T>
  using List = ListIn<Workspace, T>;

  DRAFTPROOF_DEVICE static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  DRAFTPROOF_DEVICE const Workspace& own() const { return laws_->workspace(); }

  /// F from the chords of bins of these masses; from `decided` on fewer tokens than drafts are left. One thread.
  DRAFTPROOF_DEVICE void add_up(const List<double>& mass, const List<double>& chord, const List<double>& covered,
                                int decided) const {
    own().once([&] {
      const int n = static_cast<int>(mass.size());
      covered[0] = 0;
      for (int i = 0; i < n; ++i) {
        if (i >= decided) chord[at(i)] = 0;
        covered[at(i + 1)] = i + 1 < decided ? covered[at(i)] + mass[at(i)] * chord[at(i)] : 1;
        if (i + 1 == decided && decided < n)
          chord[at(i)] = covered[at(i)] < 1 ? (1 - covered[at(i)]) / mass[at(i)] : 0;
      }
    });
  }

  /// K = 2: the chord of a bin G with H above and Z below is 1 + R(Z) - q(H) R(G) / q(G), R the sum of q / (1 - q).
  [[gnu::noinline]] DRAFTPROOF_DEVICE void pairs() {
    const int n = bins_->size();
    auto odds = own().template scratch<double>(n);
    auto light = own().template scratch<char>(n);
    const auto place = [this](Token x) { return laws_->bin(*bins_, x); };
    own().each(n, [&](int i) { odds[at(i)] = 0; });
    for (int m = 6; m >= 0; m -= 2) {
      const unsigned mark = own().brief_so_far();
      const auto sums = clocks_.powers(n, m, place);
      own().each(n, [&](int i) {
        odds[at(i)] += clocks_.unit().value(sums[2 * at(i) + 1], m + 1);
        if (m > 0)
          odds[at(i)] += clocks_.unit().value(sums[2 * at(i)], m);
        else
          mass_[at(i)] = clocks_.unit().value(sums[2 * at(i) + 1], 1), light[at(i)] = sums[2 * at(i) + 1] > 0;
      });
      own().end_brief_after(mark);
    }
    own().each(n, [&](int i) {
      clocks_.for_heavy(i, i + 1, [&](double q) {
        mass_[at(i)] += q;
        odds[at(i)] += q / (1 - q);
      });
      chord_[at(i)] = 1;
    });
    own().once([&] {
      if (clocks_.alone()) return;
      double above = 0, below = 0;
      for (int i = 0; i < n; ++i) above += mass_[at(i)];
      for (int i = n; i-- > 0;) {
        above -= mass_[at(i)];
        const double chord = 1 + below - above * (odds[at(i)] / mass_[at(i)]);
        chord_[at(i)] = chord > 0 ? chord : 0;  // below only by rounding
        below += odds[at(i)];
      }
    });
    const auto decided = clocks_.decided(
        n, [](int i) { return i; }, [&](int i) { return light[at(i)] != 0; });
    add_up(mass_, chord_, covered_, decided.place);
  }

  const L* laws_;
  const Bins* bins_;
  int drafts_;
  TeamClocks<L, Bins> clocks_;
  List<double> covered_, mass_, chord_;
};

}  // namespace draftproof
