// F of drafts without replacement, as a team of a device computes it together for a plan on buckets: the device's form
// of WorCoverage (wor_coverage.hpp), with the same bits.
//
//   light     integer sums of powers by bucket, then between the breaks that are left: passes of the whole team
//   heavy     listed by bin, then by token; each partition reads the row for itself
//   rough F   threads hold times, then bins (rough_race.hpp)
//   chords    a thread per time, which takes the bins from the last to the first (race_step.hpp)
//
// Cost: 2 + 4 passes over the rows for K > 2; two reductions a draft; the operations of the host's plan, over threads.
// Correctness: sums over tokens are integers; all others go in the host's order, by one thread each.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/sim/device/cooperative_memory.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/sampling/exponential_race.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/verifiers/ladder/light_powers.hpp>
#include <draftproof/verifiers/ladder/race_step.hpp>
#include <draftproof/verifiers/ladder/rough_step.hpp>
#include <draftproof/verifiers/ladder/team_clocks.hpp>

namespace draftproof {

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
      rough_values();
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
    integrate(breaks, chord, covered);
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
        if (i + 1 == decided && decided < n) chord[at(i)] = (1 - covered[at(i)]) / mass[at(i)];
      }
    });
  }

  /// K = 2: the chord of a bin G with H above and Z below is 1 + R(Z) - q(H) R(G) / q(G), R the sum of q / (1 - q).
  DRAFTPROOF_DEVICE void pairs() {
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
        chord_[at(i)] = 1 + below - above * (odds[at(i)] / mass_[at(i)]);
        below += odds[at(i)];
      }
    });
    const auto decided = clocks_.decided(
        n, [](int i) { return i; }, [&](int i) { return light[at(i)] != 0; });
    add_up(mass_, chord_, covered_, decided.place);
  }

  DRAFTPROOF_DEVICE void rough_values() {
    const int n = bins_->size(), drafts = drafts_;
    const RoughStep rough(drafts);
    auto above = own().template scratch<double>(n), light = own().template scratch<double>(n),
         squares = own().template scratch<double>(n);
    const unsigned mark = own().brief_so_far();
    const auto sums = clocks_.powers(n, 1, [this](Token x) { return laws_->bin(*bins_, x); });
    own().each(n, [&](int i) {
      light[at(i)] = clocks_.unit().value(sums[2 * at(i)], 1);
      squares[at(i)] = clocks_.unit().value(sums[2 * at(i) + 1], 2);
      covered_[at(i)] = light[at(i)];  // until the end: the mass of the bin
      clocks_.for_heavy(i, i + 1, [&](double q) { covered_[at(i)] += q; });
    });
    own().end_brief_after(mark);
    own().once([&] {
      double before = 0, below = 0, below_squares = 0;
      for (int i = 0; i < n; ++i) {
        above[at(i)] = before;
        before += covered_[at(i)];
      }
      for (int i = n; i-- > 1;) {
        light[at(i)] = below += light[at(i)];
        squares[at(i)] = below_squares += squares[at(i)];
      }
    });

    const int times = rough.times(clocks_.slowest());
    constexpr int tile = 16;
    auto time = own().template scratch<double>(times), decay = own().template scratch<double>(times),
         rung = own().template scratch<double>(times * drafts), rough_sum = own().template scratch<double>(drafts),
         corrections = own().template scratch<double>(drafts), rough_part = own().template scratch<double>(tile * drafts),
         correction_part = own().template scratch<double>(tile * drafts);
    own().each(rough.an_octave, [&](int phase) {
      time[at(phase)] = rough.first(phase);
      for (int t = phase + rough.an_octave; t < times; t += rough.an_octave)
        time[at(t)] = 2 * time[at(t - rough.an_octave)];
    });
    own().each(times * drafts, [&](int i) { rung[at(i)] = i < times ? 1 : 0; });
    const auto decay_by = [&](double rate) {
      own().each(rough.an_octave, [&](int phase) {
        decay[at(phase)] = rough.first_decay(phase, rate);
        for (int t = phase + rough.an_octave; t < times; t += rough.an_octave)
          decay[at(t)] = decay[at(t - rough.an_octave)] * decay[at(t - rough.an_octave)];
      });
    };
    const auto ring = [&](double q) {
      decay_by(q);
      own().each(times, [&](int t) {
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
      own().each(drafts, [&](int m) { rough_sum[at(m)] = corrections[at(m)] = 0; });
      for (int first = 0; first < times; first += tile) {
        const int count = times - first < tile ? times - first : tile;
        own().each(count, [&](int i) {
          rough.terms(
              time[at(first + i)], decay[at(first + i)], slow,
              [&](int k) { return rung[at(k * times + first + i)]; },
              [&](int m, double term, double correction) {
                rough_part[at(m * tile + i)] = term;
                correction_part[at(m * tile + i)] = correction;
              });
        });
        own().each(drafts, [&](int m) {
          for (int i = 0; i < count; ++i) {
            rough_sum[at(m)] += rough_part[at(m * tile + i)];
            corrections[at(m)] += correction_part[at(m * tile + i)];
          }
        });
      }
    };
    bool stale = true;
    for (int i = n - 1; i > 0;) {
      clocks_.for_heavy(i, i + 1, [&](double q) {
        ring(q);
        stale = true;
      });
      if (stale) integrate_rough(above[at(i)] + light[at(i)]);
      stale = false;
      int next = i - 1;  // the next bin with a heavy token, or 0
      while (next > 0 && !clocks_.has_heavy(next)) --next;
      own().each(i - next, [&](int j) {
        const int bin = i - j;
        covered_[at(bin)] = rough.covered(
            above[at(bin)], light[at(bin)], squares[at(bin)], [&](int m) { return rough_sum[at(m)]; },
            [&](int m) { return corrections[at(m)]; });
      });
      i = next;
    }
    own().each(1, [&](int) {
      covered_[0] = 0;
      covered_[at(n)] = 1;
    });
  }

  /// Sets the chords between neighbours of `breaks`, and F at them.
  template <class Breaks>
  DRAFTPROOF_DEVICE void integrate(const Breaks& breaks, const List<double>& chord, const List<double>& covered) const {
    constexpr int most_powers = static_cast<int>(LightSums::powers);
    const int m = static_cast<int>(breaks.size()) - 1, drafts = drafts_;
    const auto bin = [&breaks](int j) { return static_cast<int>(breaks[at(j)]); };
    auto mass = own().template scratch<double>(m), above = own().template scratch<double>(m);
    auto light = own().template scratch<Fixed>((most_powers + 1) * m);
    {
      const unsigned mark = own().brief_so_far();
      auto stretch = own().template scratch<typename Workspace::Index>(bins_->size());
      own().each(m, [&](int j) {
        for (int i = bin(j); i < bin(j + 1); ++i) stretch[at(i)] = static_cast<typename Workspace::Index>(j);
      });
      for (int power = 1; power <= most_powers; power += 2) {
        const unsigned sums_mark = own().brief_so_far();
        const auto sums = clocks_.powers(
            m, power, [&](Token x) { return static_cast<int>(stretch[at(laws_->bin(*bins_, x))]); });
        own().each(m, [&](int j) {
          light[at(power * m + j)] = sums[2 * at(j)];
          if (power < most_powers) light[at((power + 1) * m + j)] = sums[2 * at(j) + 1];
        });
        own().end_brief_after(sums_mark);
      }
      own().end_brief_after(mark);
    }
    own().each(m, [&](int j) {
      mass[at(j)] = clocks_.unit().value(light[at(m + j)], 1);
      clocks_.for_heavy(bin(j), bin(j + 1), [&](double q) { mass[at(j)] += q; });
    });
    const auto decided = clocks_.decided(m, bin, [&](int j) { return light[at(m + j)] > 0; });
    own().once([&] {
      double before = 0;
      for (int j = 0; j < m; ++j) {
        above[at(j)] = before;
        before += mass[at(j)];
      }
    });

    const RaceTimes times(drafts);
    const int count = 4 * times.groups(clocks_.slowest()), first_octave = 4 * times.an_octave;
    constexpr int batch = 2;
    auto sums = own().template scratch<double>(4 * m);
    auto terms = own().template scratch<double>(batch * own().threads());
    own().each(4 * m, [&](int i) { sums[at(i)] = 0; });
    using Cell = RaceCell<1>;
    using Step = RaceStep<Cell>;
    Cell counts_of[max_drafts], own_of[max_drafts];
    const typename Step::Column counts{counts_of}, rung_own{own_of};
    const std::size_t all = static_cast<std::size_t>(drafts);
    for (int first = 0; first < count; first += own().threads()) {
      const int i = first + own().thread(), octave = i / first_octave;
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
              sum.of[power] = clocks_.unit().value(light[at(power * m + j)], power);
            Step::ring_light(time, rung_by(sum.of[1]), sum, all, rung_own);
          } else {
            Step::start(all, rung_own);
          }
          clocks_.for_heavy(bin(j), bin(j + 1), [&](double q) { Step::ring(rung_by(q), all, rung_own); });
          double term;
          Step::integrand(time, rung_by(above[at(j)]), above[at(j)], mass[at(j)], all, rung_own, counts, below, term);
          terms[at(b * own().threads() + own().thread())] = i < count ? term : 0;
          Step::join(all, rung_own, counts, below);
          if (own().of_first_in_four(below) < RaceTimes::spent) Step::drop(all, counts, below);
        }
        own().meet();
        own().each(4 * (batch < last ? batch : last), [&](int k) {
          double& sum = sums[at(4 * (last - 1 - k / 4) + k % 4)];
          for (int t = k % 4; t < own().threads(); t += 4) sum += terms[at(k / 4 * own().threads() + t)];
        });
      }
    }
    own().each(m, [&](int j) {
      double total = mass[at(j)] * times.before_start(above[at(j)], mass[at(j)]);
      for (int lane = 0; lane < 4; ++lane) total += sums[at(4 * j + lane)];
      chord[at(j)] = j < decided.first_short ? times.step() * total / mass[at(j)] : j == 0 ? 1 / mass[at(j)] : 0;
    });
    add_up(mass, chord, covered, decided.place);
  }

  const L* laws_;
  const Bins* bins_;
  int drafts_;
  TeamClocks<L, Bins> clocks_;
  List<double> covered_, mass_, chord_;
};

}  // namespace draftproof
