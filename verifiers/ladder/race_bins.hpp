// The tokens of bins as a race of clocks needs them (race_integral.hpp): light ones by sums of their powers, heavy ones
// one by one.
//
//   slowest       sum of q less its K - 1 largest, or somewhat less on rows: never below half of it
//   light         q <= slowest 2^-10, in buckets: sums of q^m, m = 1 .. 7, as integers (light_powers.hpp)
//   tiny          q <= slowest 2^-15: m <= 4 only
//   heavy         the other tokens, and every token where bins are single tokens
//
// Cost: on rows two passes in wide registers that only read and one that adds (power_sums.hpp); else one over tokens.
// Correctness: sums left out, from q^n on, change the logarithm of the generating function of the number of clocks
// that have rung by c Z at most, so the probability of fewer than K by c Z of itself. Z is the sum of (q t)^n over these
// tokens, c the sum over m of (m - 1)! S(n, m) / n!: 1.25 for n = 5, 2.3 for n = 8. With x = slowest t that is 1.25 x^5
// 2^-60 and 2.3 x^8 2^-70. Under the weight e^-x x^(K - 1) / (K - 1)! the mean of both together is 2e-14 for K = 4 and
// 6e-13 for K = 8, if all mass is at both thresholds; tokens far below them leave far less.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <draftproof/sim/numeric/ratio_buckets.hpp>
#include <draftproof/sim/simd/block_sums.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/verifiers/ladder/light_powers.hpp>
#include <draftproof/verifiers/ladder/path_bins.hpp>
#include <draftproof/verifiers/ladder/power_sums.hpp>
#include <draftproof/verifiers/ladder/race_step.hpp>
#include <draftproof/verifiers/ladder/residual.hpp>

namespace draftproof {

struct RaceBins {
  static constexpr std::size_t powers = LightSums::powers;
  using Powers = std::array<std::int64_t, powers + 1>;

  /// The bins of these laws; every bin has tokens.
  template <class L, class Bins>
  RaceBins(const L& laws, const Bins& bins, int drafts) : RaceBins(at(bins.size()), at(drafts)) {
    Heavy found;
    if constexpr (ShowsRows<L> && !Bins::single_tokens) {
      read_rows(laws, bins, found);
    } else {
      slowest = exact_slowest(laws);
      for (Token x = 0; x < laws.vocabulary(); ++x)
        if (const double q = laws.proposal(x); q > 0) found.emplace_back(ladder_bin(laws, bins, x), q);
    }
    for (const auto& [bin, q] : found) ++first_heavy[at(bin) + 1];
    for (std::size_t i = 0; i < size(); ++i) first_heavy[i + 1] += first_heavy[i];
    heavy.resize(found.size());
    auto place = first_heavy;
    for (const auto& [bin, q] : found) heavy[place[at(bin)]++] = q;
    for (std::size_t i = 0; i < size(); ++i) {
      mass[i] = unit.value(light[i][1], 1);
      for (std::size_t x = first_heavy[i]; x < first_heavy[i + 1]; ++x) mass[i] += heavy[x];
    }
    add_up();
  }

  /// The bins between neighbours of these breaks, from 0 to the number of bins, as one each.
  template <class Breaks>
  RaceBins joined(const Breaks& breaks) const {
    RaceBins bins(breaks.size() - 1, drafts_);
    bins.slowest = slowest;
    bins.unit = unit;
    bins.heavy = heavy;
    for (std::size_t j = 0; j < bins.size(); ++j) {
      const auto end = static_cast<std::size_t>(breaks[j + 1]);
      for (auto i = static_cast<std::size_t>(breaks[j]); i < end; ++i) {
        for (std::size_t m = 1; m <= powers; ++m) bins.light[j][m] += light[i][m];
      }
      bins.first_heavy[j + 1] = first_heavy[end];
      bins.mass[j] = unit.value(bins.light[j][1], 1);
      for (std::size_t x = bins.first_heavy[j]; x < bins.first_heavy[j + 1]; ++x) bins.mass[j] += heavy[x];
    }
    bins.add_up();
    return bins;
  }

  std::size_t size() const { return mass.size(); }
  /// Sums of q^m over the light tokens of bin i.
  LightSums light_sums(std::size_t i) const {
    LightSums sums;
    for (std::size_t m = 1; m <= powers; ++m) sums.of[m] = unit.value(light[i][m], static_cast<int>(m));
    return sums;
  }
  /// Whether the bins from i on have fewer tokens than there are drafts. False where they have light ones: K of those
  /// or fewer make no difference there, for the integral is 0 up to rounding.
  bool short_from(std::size_t i) const { return tokens_from_[i] < drafts_; }

  /// The least bin, but 1, from which on there are fewer tokens than drafts; their number if there is none.
  std::size_t decided() const {
    std::size_t i = size();
    while (i > 1 && short_from(i - 1)) --i;
    return i;
  }

  double slowest = 0;
  LightPowers unit;
  std::vector<double> mass, above;  ///< of each bin, and of the bins before it
  std::vector<Powers> light;        ///< in steps of `unit`; [0] is 0
  std::vector<double> heavy;        ///< of bin i: first_heavy[i] .. first_heavy[i + 1] - 1
  std::vector<std::size_t> first_heavy;

 private:
  using Heavy = std::vector<std::pair<int, double>>;  ///< bin and q

  RaceBins(std::size_t bins, std::size_t drafts)
      : mass(bins, 0),
        above(bins, 0),
        light(bins, Powers{}),
        first_heavy(bins + 1, 0),
        drafts_{drafts},
        tokens_from_(bins, 0) {}

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  void add_up() {
    for (std::size_t i = 0; i + 1 < size(); ++i) above[i + 1] = above[i] + mass[i];
    for (std::size_t i = size(), tokens = 0; i-- > 0;) {
      tokens += first_heavy[i + 1] - first_heavy[i] + (light[i][1] > 0 ? drafts_ : 0);
      tokens_from_[i] = tokens;
    }
  }

  template <class L, class Bins>
  void read_rows(const L& laws, const Bins& bins, Heavy& found) {
    const auto p = laws.target_row(), q = laws.proposal_row();
    slowest = bounded_slowest(q);
    if (!(slowest > 0)) slowest = scaled_slowest(laws);
    unit = LightPowers(slowest);
    const double lightest = RaceBounds::light(slowest), tiny = RaceBounds::tiny(slowest);
    const simd::PowersByRatio<RatioBuckets> sums(p, q, lightest, unit);
    for (int bucket = 0; bucket < RatioBuckets::count; ++bucket) {
      const simd::FourPowers& sum = sums.of(at(bucket));
      Powers& of_bin = light[at(bins.of_bucket(at(bucket)))];
      for (std::size_t m = 0; m < sum.size(); ++m) of_bin[m + 1] += sum[m];
    }
    for (const std::uint32_t x : simd::large_entries(q, tiny)) {
      const double one = q[x];
      const int bin = bins.of(p[x], one);
      if (one > lightest) {
        found.emplace_back(bin, one);
        continue;
      }
      Powers& sum = light[at(bin)];
      for (std::size_t m = 5; m <= powers; ++m) sum[m] += LightPowers::of(power_of(one * unit.scale(), m));
    }
    laws.count_visited(4 * q.size());
  }

  /// From integers: all entries, which truncate to less, without the large ones (RaceBounds).
  template <class Row>
  double bounded_slowest(const Row& q) const {
    auto top = simd::large_entries(q, RaceBounds::large);
    const std::size_t heads = std::min(top.size(), drafts_ - 1);
    const auto greater = [&q](std::uint32_t a, std::uint32_t b) { return q[a] > q[b] || (q[a] == q[b] && a < b); };
    std::partial_sort(top.begin(), top.begin() + static_cast<std::ptrdiff_t>(heads), top.end(), greater);
    std::vector<Fixed> partial((q.size() + simd::block - 1) / simd::block);
    using Entry = typename Row::value_type;
    Fixed rest = simd::sums(simd::RowTerm<simd::Reader<Entry>>{{q.data()}}, q.size(), partial.data());
    for (std::size_t i = 0; i < heads; ++i) rest -= to_fixed(q[top[i]]);
    return RaceBounds::slowest(rest, static_cast<int>(drafts_ - 1 - heads));
  }

  /// Where that bound is of no use: the entries beside the K - 1 largest, as integers of their own scale.
  template <class L>
  double scaled_slowest(const L& laws) const {
    if (laws.vocabulary() < static_cast<int>(drafts_)) return 0;
    std::vector<Token> top;
    for (int k = 0; k < static_cast<int>(drafts_); ++k) top.push_back(laws.kth_most_probable(k));
    const double next = laws.proposal(top.back());
    if (!(next > 0)) return 0;
    const double scale = RaceBounds::scale_of_rest(next);
    return RaceBounds::scaled_slowest(next, scale, laws.sum([&](Token x) {
      return among(x, top.data(), static_cast<int>(drafts_) - 1) ? 0.0 : laws.proposal(x) * scale;
    }));
  }

  template <class L>
  double exact_slowest(const L& laws) const {
    std::vector<Token> top;
    for (int k = 0; k + 1 < static_cast<int>(drafts_) && k < laws.vocabulary(); ++k)
      top.push_back(laws.kth_most_probable(k));
    double sum = 0;
    for (Token x = 0; x < laws.vocabulary(); ++x)
      if (!among(x, top.data(), static_cast<int>(top.size()))) sum += laws.proposal(x);
    return sum;
  }

  std::size_t drafts_;
  std::vector<std::size_t> tokens_from_;
};

}  // namespace draftproof
