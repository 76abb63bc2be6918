// The tokens of buckets as a race needs them, on a team of a device: the device's form of RaceBins (race_bins.hpp), with
// the same integers and the same lists.
//
//   slowest   by one pass and two reductions a draft
//   powers    integer sums over light tokens of any places; a pass of the whole team
//   heavy     tokens in the order of bins, then of tokens. Each partition reads the whole row for its own list
//
// Cost: V / threads look-ups a thread for the list, and n^2 / threads comparisons to sort n heavy tokens.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/sim/device/cooperative_memory.hpp>
#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/sampling/exponential_race.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/verifiers/ladder/light_powers.hpp>
#include <draftproof/verifiers/ladder/race_step.hpp>

namespace draftproof {

/// One object per thread, made together; its lists are scratch of the workspace.
template <PlannedByTeam L, class Bins>
class TeamClocks {
 public:
  using Workspace = WorkspaceOf<L>;

  TeamClocks() = default;
  [[gnu::noinline]] DRAFTPROOF_DEVICE TeamClocks(const L& laws, const Bins& bins, int drafts)
      : laws_{&laws}, drafts_{drafts}, slowest_{slowest_of(laws, drafts)}, unit_{slowest_} {
    lightest_ = RaceBounds::light(slowest_);
    tiny_ = RaceBounds::tiny(slowest_);
    auto token = scratch<std::int32_t>(), bin = scratch<std::int32_t>();
    const unsigned mark = laws.workspace().brief_so_far();
    auto found = scratch<std::int32_t>(), its_bin = scratch<std::int32_t>();
    const int all = laws.workspace().scan(
        laws.vocabulary(), 0, [&](int x) { return laws.proposal(x) > lightest_ ? 1 : 0; }, Plus{},
        [&](int x, int before, int own) {
          if (own == 0 || before >= RaceBounds::most_heavy) return;
          found[at(before)] = x;
          its_bin[at(before)] = laws.bin(bins, x);
        });
    count_ = all < RaceBounds::most_heavy ? all : RaceBounds::most_heavy;
    laws.workspace().each(count_, [&](int i) {
      int place = 0;
      for (int j = 0; j < count_; ++j)
        place += its_bin[at(j)] < its_bin[at(i)] || (its_bin[at(j)] == its_bin[at(i)] && j < i);
      token[at(place)] = found[at(i)];
      bin[at(place)] = its_bin[at(i)];
    });
    laws.workspace().end_brief_after(mark);
    token_ = token;
    bin_ = bin;
  }

  DRAFTPROOF_DEVICE double slowest() const { return slowest_; }
  DRAFTPROOF_DEVICE const LightPowers& unit() const { return unit_; }

  /// Sums of r^m and r^(m + 1) over the light tokens of each place, in steps of unit(); m = 0 leaves out the first.
  /// place(x) is that of token x. Collective; the sums are scratch.
  template <class Place>
  DRAFTPROOF_DEVICE auto powers(int places, int m, const Place& place) const {
    struct Term {
      int place;
      Fixed first, second;
    };
    return laws_->sums_by_place(places, [&](Token x) {
      const double q = laws_->proposal(x);
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
      visit(laws_->proposal(token_[at(i)]));
  }
  DRAFTPROOF_DEVICE bool has_heavy(int bin) const {
    const int i = from(bin);
    return i < count_ && static_cast<int>(bin_[at(i)]) == bin;
  }
  /// Whether one token has all of q.
  DRAFTPROOF_DEVICE bool alone() const {
    for (int i = 0; i < count_; ++i)
      if (!(laws_->proposal(token_[at(i)]) < 1)) return true;
    return false;
  }

  /// From which place on there are fewer tokens than drafts, and the same but for place 0.
  struct Decided {
    int first_short, place;
  };
  /// `bin(j)`: the first bin of place j; `light(j)`: whether light tokens are there, of which there may be enough.
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
    return laws_->workspace().template scratch<T>(RaceBounds::most_heavy);
  }
  /// The first heavy token of bin `bin` or a later one.
  DRAFTPROOF_DEVICE int from(int bin) const {
    int low = 0, high = count_;
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (static_cast<int>(bin_[at(middle)]) < bin)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  [[gnu::noinline]] DRAFTPROOF_DEVICE static double slowest_of(const L& laws, int drafts) {
    const int wanted = drafts < laws.vocabulary() ? drafts : laws.vocabulary();
    const auto top = k_smallest<max_drafts>(laws, wanted, [&laws](auto& own, int thread, int threads) {
      for (Token x = thread; x < laws.vocabulary(); x += threads) own.add({-laws.proposal(x), x});
    });
    Fixed rest = laws.fixed_sum([&laws](Token x) { return laws.proposal(x); });
    int heads = 0;
    for (; heads < drafts - 1 && heads < top.size() && laws.proposal(top[heads].token) > RaceBounds::large; ++heads)
      rest -= to_fixed(laws.proposal(top[heads].token));
    if (const double bound = RaceBounds::slowest(rest, drafts - 1 - heads); bound > 0) return bound;
    if (laws.vocabulary() < drafts) return 0;
    const double next = laws.proposal(top[drafts - 1].token);
    if (!(next > 0)) return 0;
    const double scale = RaceBounds::scale_of_rest(next);
    return RaceBounds::scaled_slowest(next, scale, laws.sum([&](Token x) {
      for (int i = 0; i + 1 < drafts; ++i)
        if (top[i].token == x) return 0.0;
      return laws.proposal(x) * scale;
    }));
  }

  const L* laws_ = nullptr;
  int drafts_ = 0, count_ = 0;
  double slowest_ = 0, lightest_ = 0, tiny_ = 0;
  LightPowers unit_;
  ListIn<Workspace, std::int32_t> token_, bin_;
};

// Chords of F between the breaks of a plan of drafts without replacement (race_bins.hpp), by a team of a device: a
// thread holds one time and takes the bins from the last to the first.
//
//   light    integer sums of powers between neighbouring breaks: four passes of the whole team
//   terms    of a bin at all times, added up in the host's order by four threads a bin
//
// Cost: O(K^2) operations a bin and O(K) a heavy token on every time; times in turn where there are more than threads.
// Correctness: the operations of race_step.hpp, in the host's order.

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
