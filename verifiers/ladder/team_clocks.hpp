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

}  // namespace draftproof
