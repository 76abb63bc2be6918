// F of drafts without replacement, as a team of a device computes it together for a plan on buckets: the device's
// form of RaceBins, RoughRace, RaceIntegral (race_bins.hpp) and WorCoverage (coverage.hpp), with the same bits.
//
//   slowest   by one pass and two reductions per draft
//   powers    integer sums over the light tokens of each place (a bin, or bins between breaks), by a pass of the team
//   heavy     tokens in the order of bins, then of tokens. Each partition reads the whole row for its own list
//   K = 2     sums of q / (1 - q) by powers
//   K > 2     an approximate F, for which the threads divide the times, then the terms, then the bins; then chords
//             between the breaks that are left, for which each thread takes one time and adds the bins from the
//             last to the first
//
// Cost: 2 + 4 passes over the rows for K > 2; two reductions per draft; V / threads look-ups per thread for the list
// of heavy tokens, and n^2 / threads comparisons to sort n of them. The operations of the host's plan, O(K^2) per bin
// and O(K) per heavy token on every time, are divided among the threads; a thread takes several times in turn if there
// are more times than threads.
// Correctness: sums over tokens are integers; the operations are those of race_step.hpp, and every other sum is added
// in the host's order, by one thread each or by four threads per bin.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/sim/device/cooperative_memory.hpp>
#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/sampling/exponential_race.hpp>
#include <draftproof/sim/sampling/guide_table.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/verifiers/ladder/race_step.hpp>

namespace draftproof {

/// The team's RaceBins. Each thread has one object, and all threads construct theirs together; the lists are scratch
/// memory of the workspace.
template <PlannedByTeam L, class Bins>
class TeamClocks {
 public:
  using Workspace = WorkspaceOf<L>;

  TeamClocks() = default;
  [[gnu::noinline]] DRAFTPROOF_DEVICE TeamClocks(const L& distributions, const Bins& bins, int drafts)
      : distributions_{&distributions},
        drafts_{drafts},
        slowest_{slowest_of(distributions, drafts)},
        unit_{slowest_} {
    lightest_ = RaceBounds::light(slowest_);
    tiny_ = RaceBounds::tiny(slowest_);
    auto token = scratch<std::int32_t>(), bin = scratch<std::int32_t>();
    const unsigned mark = distributions.workspace().brief_so_far();
    auto found = scratch<std::int32_t>(), its_bin = scratch<std::int32_t>();
    const int all = distributions.workspace().scan(
        distributions.vocabulary(), 0, [&](int x) { return distributions.proposal(x) > lightest_ ? 1 : 0; }, Plus{},
        [&](int x, int before, int own) {
          if (own == 0 || before >= RaceBounds::most_heavy) return;
          found[at(before)] = x;
          its_bin[at(before)] = distributions.bin(bins, x);
        });
    count_ = all < RaceBounds::most_heavy ? all : RaceBounds::most_heavy;
    distributions.workspace().each(count_, [&](int i) {
      int place = 0;
      for (int j = 0; j < count_; ++j)
        place += its_bin[at(j)] < its_bin[at(i)] || (its_bin[at(j)] == its_bin[at(i)] && j < i);
      token[at(place)] = found[at(i)];
      bin[at(place)] = its_bin[at(i)];
    });
    distributions.workspace().end_brief_after(mark);
    token_ = token;
    bin_ = bin;
  }

  DRAFTPROOF_DEVICE double slowest() const { return slowest_; }
  DRAFTPROOF_DEVICE const LightPowers& unit() const { return unit_; }

  /// Returns the sums of r^m and r^(m + 1) over the light tokens of each place, in steps of unit(); for m = 0 the
  /// second only. place(x) is the place of token x. All threads call it together; the sums are scratch memory.
  template <class Place>
  DRAFTPROOF_DEVICE auto powers(int places, int m, const Place& place) const {
    struct Term {
      int place;
      Fixed first, second;
    };
    return distributions_->sums_by_place(places, [&](Token x) {
      const double q = distributions_->proposal(x);
      if (!(q > 0) || q > lightest_) return Term{-1, 0, 0};
      const auto power = [&](int k) -> Fixed {
        const bool counts = k > 0 && k <= static_cast<int>(LightSums::powers) && (k < 5 || q > tiny_);
        return counts ? LightPowers::of(power_of(q * unit_.scale(), static_cast<std::size_t>(k))) : Fixed{0};
      };
      return Term{place(x), power(m), power(m + 1)};
    });
  }

  /// Calls visit(q) for the heavy tokens of bins first .. end - 1, in order.
  template <class Visit>
  DRAFTPROOF_DEVICE void for_heavy(int first, int end, const Visit& visit) const {
    for (int i = from(first); i < count_ && static_cast<int>(bin_[at(i)]) < end; ++i)
      visit(distributions_->proposal(token_[at(i)]));
  }
  DRAFTPROOF_DEVICE bool has_heavy(int bin) const {
    const int i = from(bin);
    return i < count_ && static_cast<int>(bin_[at(i)]) == bin;
  }
  /// Whether one token has all of q.
  DRAFTPROOF_DEVICE bool alone() const { return !(slowest_ > 0); }

  /// `first_short`: the least j for which the places from j on have fewer tokens than there are drafts. `place`:
  /// max(first_short, 1).
  struct Decided {
    int first_short, place;
  };
  /// `bin(j)`: the first bin of place j; `light(j)`: whether place j has light tokens. Light tokens are not counted: a
  /// place with light tokens counts as having at least as many tokens as there are drafts.
  template <class FirstBin, class Light>
  DRAFTPROOF_DEVICE Decided decided(int places, const FirstBin& bin, const Light& light) const {
    int tokens = 0, first_short = places;
    for (int j = places; j-- > 0; first_short = j) {
      tokens += from(bin(j + 1)) - from(bin(j)) + (light(j) ? drafts_ : 0);
      if (tokens >= drafts_) break;
    }
    return {first_short, first_short > 1 ? first_short : 1};
  }

 private:
  DRAFTPROOF_DEVICE static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  template <class T>
  DRAFTPROOF_DEVICE auto scratch() const {
    return distributions_->workspace().template scratch<T>(RaceBounds::most_heavy);
  }
  /// Index of the first heavy token of bin `bin` or of a later bin.
  DRAFTPROOF_DEVICE int from(int bin) const {
    return static_cast<int>(bisected(0, at(count_), [&](std::size_t i) { return bin_[i] < bin; }));
  }

  [[gnu::noinline]] DRAFTPROOF_DEVICE static double slowest_of(const L& distributions, int drafts) {
    const int wanted = drafts < distributions.vocabulary() ? drafts : distributions.vocabulary();
    const auto top =
        k_smallest<max_drafts>(distributions, wanted, [&distributions](auto& own, int thread, int threads) {
          for (Token x = thread; x < distributions.vocabulary(); x += threads)
            own.add({-distributions.proposal(x), x});
        });
    Fixed rest = distributions.fixed_sum([&distributions](Token x) { return distributions.proposal(x); });
    int heads = 0;
    for (; heads < drafts - 1 && heads < top.size() && distributions.proposal(top[heads].token) > RaceBounds::large;
         ++heads)
      rest -= to_fixed(distributions.proposal(top[heads].token));
    if (const double bound = RaceBounds::slowest(rest, drafts - 1 - heads); bound > 0) return bound;
    return RaceBounds::scaled_slowest(distributions, drafts, [&top](int k) { return top[k].token; });
  }

  const L* distributions_ = nullptr;
  int drafts_ = 0, count_ = 0;
  double slowest_ = 0, lightest_ = 0, tiny_ = 0;
  LightPowers unit_;
  ListIn<Workspace, std::int32_t> token_, bin_;
};

/// Sets `covered` to the approximate F at every break, from 0 to the number of bins. All threads call it together.
template <PlannedByTeam L, class Bins>
[[gnu::noinline]] DRAFTPROOF_DEVICE void team_rough_coverage(const L& distributions, const Bins& bins,
                                                             const TeamClocks<L, Bins>& clocks, int drafts,
                                                             const ListIn<WorkspaceOf<L>, double>& covered) {
  constexpr auto at = [](int i) { return static_cast<std::size_t>(i); };
  const int n = bins.size();
  const RoughStep rough(drafts);
  auto above = distributions.workspace().template scratch<double>(n),
       light = distributions.workspace().template scratch<double>(n),
       squares = distributions.workspace().template scratch<double>(n);
  const unsigned mark = distributions.workspace().brief_so_far();
  const auto sums = clocks.powers(n, 1, [&](Token x) { return distributions.bin(bins, x); });
  distributions.workspace().each(n, [&](int i) {
    light[at(i)] = clocks.unit().value(sums[2 * at(i)], 1);
    squares[at(i)] = clocks.unit().value(sums[2 * at(i) + 1], 2);
    covered[at(i)] = light[at(i)];  // the mass of the bin, until F overwrites it below
    clocks.for_heavy(i, i + 1, [&](double q) { covered[at(i)] += q; });
  });
  distributions.workspace().end_brief_after(mark);
  distributions.workspace().once([&] {
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
  auto time = distributions.workspace().template scratch<double>(times),
       decay = distributions.workspace().template scratch<double>(times),
       rung = distributions.workspace().template scratch<double>(times * drafts),
       rough_sum = distributions.workspace().template scratch<double>(drafts),
       corrections = distributions.workspace().template scratch<double>(drafts),
       rough_part = distributions.workspace().template scratch<double>(tile * drafts),
       correction_part = distributions.workspace().template scratch<double>(tile * drafts);
  distributions.workspace().each(rough.an_octave, [&](int phase) {
    time[at(phase)] = rough.first(phase);
    for (int t = phase + rough.an_octave; t < times; t += rough.an_octave)
      time[at(t)] = 2 * time[at(t - rough.an_octave)];
  });
  distributions.workspace().each(times * drafts, [&](int i) { rung[at(i)] = i < times ? 1 : 0; });
  const auto decay_by = [&](double rate) {
    distributions.workspace().each(rough.an_octave, [&](int phase) {
      decay[at(phase)] = rough.first_decay(phase, rate);
      for (int t = phase + rough.an_octave; t < times; t += rough.an_octave)
        decay[at(t)] = decay[at(t - rough.an_octave)] * decay[at(t - rough.an_octave)];
    });
  };
  const auto ring = [&](double q) {
    decay_by(q);
    distributions.workspace().each(times, [&](int t) {
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
    distributions.workspace().each(drafts, [&](int m) { rough_sum[at(m)] = corrections[at(m)] = 0; });
    for (int first = 0; first < times; first += tile) {
      const int count = times - first < tile ? times - first : tile;
      distributions.workspace().each(count, [&](int i) {
        rough.template terms<false>(time[at(first + i)], decay[at(first + i)], slow, rung.data() + first + i, times,
                                    rough_part.data() + i, correction_part.data() + i, tile);
      });
      distributions.workspace().each(drafts, [&](int m) {
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
    distributions.workspace().each(i - next, [&](int j) {
      const int bin = i - j;
      covered[at(bin)] =
          rough.covered(above[at(bin)], light[at(bin)], squares[at(bin)], rough_sum.data(), corrections.data());
    });
    i = next;
  }
  distributions.workspace().each(1, [&](int) {
    covered[0] = 0;
    covered[at(n)] = 1;
  });
}

/// Sets light[power * m + j] to the sum of r^power over the light tokens between breaks j and j + 1, j < m.
template <PlannedByTeam L, class Bins, class Breaks>
[[gnu::noinline]] DRAFTPROOF_DEVICE void team_stretch_powers(const L& distributions, const Bins& bins,
                                                             const TeamClocks<L, Bins>& clocks, const Breaks& breaks,
                                                             const ListIn<WorkspaceOf<L>, Fixed>& light) {
  constexpr auto at = [](int i) { return static_cast<std::size_t>(i); };
  constexpr int most_powers = static_cast<int>(LightSums::powers);
  const int m = static_cast<int>(breaks.size()) - 1;
  const auto bin = [&](int j) { return static_cast<int>(breaks[at(j)]); };
  const unsigned mark = distributions.workspace().brief_so_far();
  auto stretch = distributions.workspace().template scratch<typename WorkspaceOf<L>::Index>(bins.size());
  distributions.workspace().each(m, [&](int j) {
    for (int i = bin(j); i < bin(j + 1); ++i) stretch[at(i)] = static_cast<typename WorkspaceOf<L>::Index>(j);
  });
  for (int power = 1; power <= most_powers; power += 2) {
    const unsigned sums_mark = distributions.workspace().brief_so_far();
    const auto sums =
        clocks.powers(m, power, [&](Token x) { return static_cast<int>(stretch[at(distributions.bin(bins, x))]); });
    distributions.workspace().each(m, [&](int j) {
      light[at(power * m + j)] = sums[2 * at(j)];
      if (power < most_powers) light[at((power + 1) * m + j)] = sums[2 * at(j) + 1];
    });
    distributions.workspace().end_brief_after(sums_mark);
  }
  distributions.workspace().end_brief_after(mark);
}

/// Sets the mass and the chord of each bin between neighbours of `breaks`. Returns the first of these bins, after bin
/// 0, from which on fewer tokens than drafts are left. All threads call it together.
template <PlannedByTeam L, class Bins, class Breaks>
[[gnu::noinline]] DRAFTPROOF_DEVICE int team_race_chords(const L& distributions, const Bins& bins,
                                                         const TeamClocks<L, Bins>& clocks, int drafts,
                                                         const Breaks& breaks,
                                                         const ListIn<WorkspaceOf<L>, double>& mass,
                                                         const ListIn<WorkspaceOf<L>, double>& chord) {
  constexpr auto at = [](int i) { return static_cast<std::size_t>(i); };
  constexpr int most_powers = static_cast<int>(LightSums::powers);
  const int m = static_cast<int>(breaks.size()) - 1;
  const auto bin = [&](int j) { return static_cast<int>(breaks[at(j)]); };
  auto above = distributions.workspace().template scratch<double>(m);
  auto light = distributions.workspace().template scratch<Fixed>((most_powers + 1) * m);
  team_stretch_powers(distributions, bins, clocks, breaks, light);
  distributions.workspace().each(m, [&](int j) {
    mass[at(j)] = clocks.unit().value(light[at(m + j)], 1);
    clocks.for_heavy(bin(j), bin(j + 1), [&](double q) { mass[at(j)] += q; });
  });
  const auto decided = clocks.decided(m, bin, [&](int j) { return light[at(m + j)] > 0; });
  distributions.workspace().once([&] {
    double before = 0;
    for (int j = 0; j < m; ++j) {
      above[at(j)] = before;
      before += mass[at(j)];
    }
  });

  const RaceTimes times(drafts);
  const int count = 4 * times.groups(clocks.slowest()), first_octave = 4 * times.an_octave;
  constexpr int batch = 2;
  auto sums = distributions.workspace().template scratch<double>(4 * m);
  auto terms = distributions.workspace().template scratch<double>(batch * distributions.workspace().threads());
  distributions.workspace().each(4 * m, [&](int i) { sums[at(i)] = 0; });
  using Cell = RaceCell<1>;
  using Step = RaceStep<Cell>;
  Cell counts_of[max_drafts], own_of[max_drafts];
  const typename Step::Column counts{counts_of}, rung_own{own_of};
  const std::size_t all = static_cast<std::size_t>(drafts);
  for (int first = 0; first < count; first += distributions.workspace().threads()) {
    const int i = first + distributions.workspace().thread(), octave = i / first_octave;
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
        terms[at(b * distributions.workspace().threads() + distributions.workspace().thread())] =
            i < count ? term : 0;
        Step::join(all, rung_own, counts, below);
        if (distributions.workspace().of_first_in_four(below) < RaceTimes::spent) Step::drop(all, counts, below);
      }
      distributions.workspace().meet();
      distributions.workspace().each(4 * (batch < last ? batch : last), [&](int k) {
        double& sum = sums[at(4 * (last - 1 - k / 4) + k % 4)];
        for (int t = k % 4; t < distributions.workspace().threads(); t += 4)
          sum += terms[at(k / 4 * distributions.workspace().threads() + t)];
      });
    }
  }
  distributions.workspace().each(m, [&](int j) {
    double total = mass[at(j)] * times.before_start(above[at(j)], mass[at(j)]);
    for (int lane = 0; lane < 4; ++lane) total += sums[at(4 * j + lane)];
    chord[at(j)] = j < decided.first_short ? times.step() * total / mass[at(j)] : j == 0 ? 1 / mass[at(j)] : 0;
  });
  return decided.place;
}

/// The team's WorCoverage. One object per thread; all threads make all calls together, except covered() and chord().
template <PlannedByTeam L, class Bins>
class TeamWorCoverage {
 public:
  static constexpr bool by_place = true;
  using Workspace = WorkspaceOf<L>;

  /// F of `drafts` >= 1 drafts on these bins; rough() for more than two. The arguments must outlive it.
  [[gnu::noinline]] DRAFTPROOF_DEVICE TeamWorCoverage(const L& distributions, const Bins& bins, int drafts)
      : distributions_{&distributions},
        bins_{&bins},
        drafts_{drafts},
        chord_{own().template persistent<double>(bins.size())} {
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
    clocks_ = TeamClocks<L, Bins>(distributions, bins, drafts);
    const unsigned mark = own().brief_so_far();
    if (drafts == 2)
      pairs();
    else
      team_rough_coverage(*distributions_, *bins_, clocks_, drafts, covered_);
    own().end_brief_after(mark);
  }

  DRAFTPROOF_DEVICE bool rough() const { return drafts_ > 2; }
  /// Returns F with exact chords between neighbours of `breaks`.
  template <class Breaks>
  [[gnu::noinline]] DRAFTPROOF_DEVICE TeamWorCoverage refined(const Breaks& breaks) const {
    const unsigned mark = own().brief_so_far();
    const int m = static_cast<int>(breaks.size()) - 1;
    const auto n = [&breaks](int j) { return static_cast<int>(breaks[at(j)]); };
    auto chord = own().template scratch<double>(m), covered = own().template scratch<double>(m + 1);
    auto mass = own().template scratch<double>(m);
    const int decided = team_race_chords(*distributions_, *bins_, clocks_, drafts_, breaks, mass, chord);
    own().once([&] { ChordSums::add_up(mass, chord, covered, at(decided)); });
    // Between breaks F is the approximate F, corrected by a line between the corrections at the breaks.
    own().each(m + 1, [&](int j) { covered[at(j)] -= covered_[at(n(j))]; });
    own().each(m, [&](int j) {
      ChordSums::refine(chord_, covered_, n(j), n(j + 1), covered[at(j)], covered[at(j + 1)], chord[at(j)]);
    });
    own().end_brief_after(mark);
    return *this;
  }

  DRAFTPROOF_DEVICE double covered(int i) const { return covered_[at(i)]; }
  DRAFTPROOF_DEVICE double chord(int a, int b) const {
    return drafts_ > 2 || b == a + 1 ? chord_[at(a)] : ChordSums::joined(mass_, chord_, at(a), at(b));
  }

 private:
  template <class T>
  using List = ListIn<Workspace, T>;

  DRAFTPROOF_DEVICE static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  DRAFTPROOF_DEVICE const Workspace& own() const { return distributions_->workspace(); }

  /// Computes F for K = 2.
  [[gnu::noinline]] DRAFTPROOF_DEVICE void pairs() {
    const int n = bins_->size();
    auto odds = own().template scratch<double>(n);
    auto light = own().template scratch<char>(n);
    const auto place = [this](Token x) { return distributions_->bin(*bins_, x); };
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
        odds[at(i)] += ChordSums::odds(q, clocks_.slowest(), ChordSums::imprecise);
      });
      chord_[at(i)] = 1;
    });
    own().once([&] {
      if (!clocks_.alone()) ChordSums::pairs(mass_, odds, chord_);
    });
    const auto decided = clocks_.decided(
        n, [](int i) { return i; }, [&](int i) { return light[at(i)] != 0; });
    own().once([&] { ChordSums::add_up(mass_, chord_, covered_, at(decided.place)); });
  }

  const L* distributions_;
  const Bins* bins_;
  int drafts_;
  TeamClocks<L, Bins> clocks_;
  List<double> covered_, mass_, chord_;
};

}  // namespace draftproof
