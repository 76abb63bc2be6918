// The race of clocks that gives F of drafts without replacement, on a host. RaceBins has the tokens of each bin,
// RaceIntegral computes chords of F, and RoughRace an approximate F. team_race.hpp is the form for a team; both use
// race_step.hpp.
//
// RaceBins keeps sums of powers of light tokens, and each heavy token separately.
//
//   slowest       sum of q without its K - 1 largest entries; on rows a lower bound of at least half of that
//   light         q <= slowest 2^-10, in buckets: sums of q^m, m = 1 .. 7, as integers (LightPowers)
//   tiny          q <= slowest 2^-15: m <= 4 only
//   heavy         the other tokens, and every token if bins are single tokens
//
// Cost: on rows two passes in wide registers that only read and one that adds (power_sums.hpp); else one over tokens.
// Correctness: the omitted sums, of q^n and higher powers, change the logarithm of the generating function of the
// number of clocks that have rung by at most c Z, so the relative error of the probability of fewer than K is at most
// c Z. Z is the sum of (q t)^n over these tokens, c the sum over m of (m - 1)! S(n, m) / n!: 1.25 for n = 5, 2.3 for
// n = 8. With x = slowest t this is 1.25 x^5 2^-60 for tiny and 2.3 x^8 2^-70 for light tokens. Under the weight e^-x
// x^(K - 1) / (K - 1)! the two together have a mean of 2e-14 for K = 4 and 6e-13 for K = 8, if all mass is at both
// thresholds; tokens far below the thresholds have far smaller errors.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <draftproof/sim/numeric/ratio_buckets.hpp>
#include <draftproof/sim/simd/block_sums.hpp>
#include <draftproof/sim/simd/dispatch.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/verifiers/ladder/bins.hpp>
#include <draftproof/verifiers/ladder/power_sums.hpp>
#include <draftproof/verifiers/ladder/race_step.hpp>
#include <draftproof/verifiers/ladder/residual.hpp>

namespace draftproof {

struct RaceBins {
  static constexpr std::size_t powers = LightSums::powers;
  using Powers = std::array<std::int64_t, powers + 1>;

  /// `bins` are the bins of `distributions`, each with at least one token.
  template <class L, class Bins>
  RaceBins(const L& distributions, const Bins& bins, int drafts) : RaceBins(at(bins.size()), at(drafts)) {
    Heavy found;
    if constexpr (ShowsRows<L> && !Bins::single_tokens) {
      read_rows(distributions, bins, found);
    } else {
      slowest = exact_slowest(distributions);
      imprecise = 0.5;
      for (Token x = 0; x < distributions.vocabulary(); ++x)
        if (const double q = distributions.proposal(x); q > 0)
          found.emplace_back(ladder_bin(distributions, bins, x), q);
    }
    for (const auto& [bin, q] : found) ++first_heavy[at(bin) + 1];
    for (std::size_t i = 0; i < size(); ++i) first_heavy[i + 1] += first_heavy[i];
    heavy.resize(found.size());
    auto place = first_heavy;
    for (const auto& [bin, q] : found) heavy[place[at(bin)]++] = q;
    add_up();
  }

  /// Returns one bin for each pair of neighbours of `breaks`, which range from 0 to the number of bins.
  template <class Breaks>
  RaceBins joined(const Breaks& breaks) const {
    RaceBins bins(breaks.size() - 1, drafts_);
    bins.slowest = slowest;
    bins.unit = unit;
    bins.heavy = heavy;
    for (std::size_t j = 0; j < bins.size(); ++j) {
      const auto end = static_cast<std::size_t>(breaks[j + 1]);
      for (auto i = static_cast<std::size_t>(breaks[j]); i < end; ++i)
        for (std::size_t m = 1; m <= powers; ++m) bins.light[j][m] += light[i][m];
      bins.first_heavy[j + 1] = first_heavy[end];
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
  /// Whether the bins from i on have fewer tokens than there are drafts. False if they have light tokens: even if
  /// these are at most K, the integral is then 0 up to rounding.
  bool short_from(std::size_t i) const { return tokens_from_[i] < drafts_; }

  /// Returns the least bin >= 1 from which on there are fewer tokens than drafts; size() if there is no such bin.
  std::size_t decided() const {
    std::size_t i = size();
    while (i > 1 && short_from(i - 1)) --i;
    return i;
  }

  double slowest = 0;
  double imprecise = ChordSums::imprecise;  ///< 1 - q up to which `slowest` is more precise, for K = 2
  LightPowers unit;
  std::vector<double> mass, above;  ///< q-mass of each bin, and of the bins before it
  std::vector<Powers> light;        ///< power sums in steps of `unit`; [0] is 0
  std::vector<double> heavy;        ///< bin i has entries first_heavy[i] .. first_heavy[i + 1] - 1
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

  /// Computes masses and numbers of tokens from the light sums and the heavy tokens.
  void add_up() {
    for (std::size_t i = 0; i < size(); ++i) {
      mass[i] = unit.value(light[i][1], 1);
      for (std::size_t x = first_heavy[i]; x < first_heavy[i + 1]; ++x) mass[i] += heavy[x];
    }
    for (std::size_t i = 0; i + 1 < size(); ++i) above[i + 1] = above[i] + mass[i];
    for (std::size_t i = size(), tokens = 0; i-- > 0;) {
      tokens += first_heavy[i + 1] - first_heavy[i] + (light[i][1] > 0 ? drafts_ : 0);
      tokens_from_[i] = tokens;
    }
  }

  template <class L, class Bins>
  void read_rows(const L& distributions, const Bins& bins, Heavy& found) {
    const auto p = distributions.target_row(), q = distributions.proposal_row();
    slowest = bounded_slowest(q);
    if (!(slowest > 0)) {
      std::vector<Token> top;
      for (int k = 0; k < std::min(static_cast<int>(drafts_), distributions.vocabulary()); ++k)
        top.push_back(distributions.kth_most_probable(k));
      slowest =
          RaceBounds::scaled_slowest(distributions, static_cast<int>(drafts_), [&top](int k) { return top[at(k)]; });
    }
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
    distributions.count_visited(4 * q.size());
  }

  /// Computes `slowest` from integers: the sum of all entries, each truncated, minus the large entries (RaceBounds).
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

  template <class L>
  double exact_slowest(const L& distributions) const {
    std::vector<Token> top;
    for (int k = 0; k + 1 < static_cast<int>(drafts_) && k < distributions.vocabulary(); ++k)
      top.push_back(distributions.kth_most_probable(k));
    double sum = 0;
    for (Token x = 0; x < distributions.vocabulary(); ++x)
      if (!among(x, top.data(), static_cast<int>(top.size()))) sum += distributions.proposal(x);
    return sum;
  }

  std::size_t drafts_;
  std::vector<std::size_t> tokens_from_;
};

// Chords of F, the probability that K drafts without replacement hit a prefix of bins, by a race of exponential
// clocks: token x rings at rate q(x), and the first K to ring are the drafts.
//
//   c, W         mass of the bins above a bin, and of the bin
//   N', own      number of clocks that have rung by t, below the bin and in it
//   chord        1/W integral over t of e^(-ct) [W Pr(own = 0) Pr(N' < K)
//                                                - c sum over k + j < K, j > 0, of Pr(N' = k) Pr(own = j)]
//   Cell         four times t, in equal ratios 2^(1/4) or, for K > 8, every other one of ratios 2^(1/8)
//
// A bin's light tokens enter by their power sums: Pr(own = k) = e^(-Wt) e_k, where e_k, the elementary symmetric
// functions of e^(qt) - 1, follow from the sums of its powers by Newton's identities. Heavier tokens multiply in one by
// one (race_bins.hpp, race_step.hpp).
// Cost: O(K) operations on all times for a heavy token, O(K^2) for a bin; 12 to 60 octaves of times.
// Correctness: Pr(all drafts below a set) is the integral of c e^(-ct) Pr(N' < K) (docs/optimum.md); differences of
// two of them, term by term, give the chord. All terms have the bin's own size, so narrow bins keep their precision.
// The trapezoid rule in log t errs by less than 1e-15 of each of the two terms: off the real axis by an angle d a
// probability is at most (sec d)^K times its value at t cos d, so with n nodes an octave the error is at most
// 2 (sec d)^K e^(-2 pi n d / ln 2); the best d has tan d = 2 pi n / (K ln 2). Sums go lane by lane in one order, so
// every width gives the same bits.
// Source: derived in docs/ladder.md, "Without replacement".

class RaceIntegral {
 public:
  /// drafts > 2; `bins` must outlive this.
  RaceIntegral(const RaceBins& bins, int drafts)
      : bins_{bins},
        times_{drafts},
        drafts_{static_cast<std::size_t>(drafts)},
        an_octave_{static_cast<std::size_t>(times_.an_octave)},
        live_{static_cast<std::size_t>(times_.groups(bins.slowest))},
        at_(live_),
        below_(live_),
        rung_(live_),
        counts_(drafts_ * live_),
        own_(drafts_ * live_) {
    for (std::size_t n = 0; n < live_; ++n) {
      if (n < an_octave_)
        for (std::size_t lane = 0; lane < lanes; ++lane)
          Cell::set(at_[n].at, lane, times_.first(static_cast<int>(n), static_cast<int>(lane)));
      else
        at_[n].at = at_[n - an_octave_].at * 2.0;
      Step::start(drafts_, counts(n));
      below_[n].at = Times{} + 1.0;
    }
  }

  /// Returns (F(first i + 1 bins) - F(first i bins)) / q(bin i) for each bin i.
  std::vector<double> chords() {
#if DRAFTPROOF_WIDE
    if (simd::in_use() == simd::Width::avx512) return chords_avx512();
    if (simd::in_use() == simd::Width::avx2) return chords_avx2();
#endif
    return all_chords();
  }

 private:
#if defined(__CUDACC__)
  static constexpr std::size_t lanes = 1;  // never run there
#else
  static constexpr std::size_t lanes = 4;
#endif
  using Cell = RaceCell<lanes>;
  using Times = Cell::Times;
  using Step = RaceStep<Cell>;

#if DRAFTPROOF_WIDE
  DRAFTPROOF_AVX2 std::vector<double> chords_avx2() { return all_chords(); }
  DRAFTPROOF_AVX512 std::vector<double> chords_avx512() { return all_chords(); }
#endif

  DRAFTPROOF_INLINE std::vector<double> all_chords() {
    std::vector<double> chord(bins_.size(), 0);
    for (std::size_t i = bins_.size(); i-- > 0;) {
      const double above = bins_.above[i], width = bins_.mass[i];
      ring(i);
      // If the bins from i on have fewer than K tokens, some draft is in an earlier bin with certainty.
      if (!bins_.short_from(i))
        chord[i] = integral(above, width) / width;
      else if (i == 0)
        chord[i] = 1 / width;
      join();
    }
    return chord;
  }

  DRAFTPROOF_INLINE Step::Column own(std::size_t n) { return {own_.data() + n * drafts_}; }
  DRAFTPROOF_INLINE Step::Column counts(std::size_t n) { return {counts_.data() + n * drafts_}; }

  /// Sets rung_ to 1 - e^(-rate t).
  DRAFTPROOF_INLINE void ring_by(double rate) {
    for (std::size_t n = 0; n < an_octave_; ++n) Step::rung_by(at_[n].at * rate, rung_[n].at);
    for (std::size_t n = an_octave_; n < live_; ++n) Step::double_time(rung_[n - an_octave_].at, rung_[n].at);
  }

  /// The distribution of the number of clocks of bin i that have rung.
  DRAFTPROOF_INLINE void ring(std::size_t i) {
    if (bins_.light[i][1] > 0) {
      const LightSums light = bins_.light_sums(i);
      ring_by(light.of[1]);
      for (std::size_t n = 0; n < live_; ++n) Step::ring_light(at_[n].at, rung_[n].at, light, drafts_, own(n));
    } else {
      for (std::size_t n = 0; n < live_; ++n) Step::start(drafts_, own(n));
    }
    for (std::size_t x = bins_.first_heavy[i]; x < bins_.first_heavy[i + 1]; ++x) {
      ring_by(bins_.heavy[x]);
      for (std::size_t n = 0; n < live_; ++n) Step::ring(rung_[n].at, drafts_, own(n));
    }
  }

  /// Returns W times the chord of the bin of mass `width` with `above` before it.
  DRAFTPROOF_INLINE double integral(double above, double width) {
    ring_by(above);
    Times sum = Times{} + 0.0, term;
    for (std::size_t n = 0; n < live_; ++n) {
      Step::integrand(at_[n].at, rung_[n].at, above, width, drafts_, own(n), counts(n), below_[n].at, term);
      sum = sum + term;
      if (Cell::get(at_[n].at, 0) * above > RaceTimes::longest) break;  // later terms are 0
    }
    double total = width * times_.before_start(above, width);
    for (std::size_t lane = 0; lane < lanes; ++lane) total += Cell::get(sum, lane);
    return times_.step() * total;
  }

  /// Adds a bin, whose clocks are in own_, to the bins below.
  DRAFTPROOF_INLINE void join() {
    for (std::size_t n = 0; n < live_; ++n) {
      Step::join(drafts_, own(n), counts(n), below_[n].at);
      if (Cell::get(below_[n].at, 0) < RaceTimes::spent) Step::drop(drafts_, counts(n), below_[n].at);
    }
    while (live_ > 0 && !(Cell::get(below_[live_ - 1].at, 0) > 0)) --live_;
  }

  const RaceBins& bins_;
  RaceTimes times_;
  std::size_t drafts_, an_octave_, live_;  ///< groups of times that are not spent
  std::vector<Cell> at_, below_, rung_;    ///< indexed by group; below_: Pr(N' < K)
  std::vector<Cell> counts_, own_;         ///< Pr(N' = k), Pr(own = k): [group][k]
};

/// The approximate F (RoughStep). Cost: O(K) operations on 10 to 40 times for a heavy token, O(K) for a bin: only
/// heavy tokens change the integrals.
class RoughRace {
 public:
  /// `bins` must outlive this.
  RoughRace(const RaceBins& bins, int drafts)
      : bins_{bins},
        rough_{drafts},
        drafts_{static_cast<std::size_t>(drafts)},
        an_octave_{static_cast<std::size_t>(rough_.an_octave)},
        times_(static_cast<std::size_t>(rough_.times(bins.slowest))),
        rung_(drafts_ * times_.size(), 0),
        decay_(times_.size()) {
    for (std::size_t n = 0; n < times_.size(); ++n) {
      times_[n] = n < an_octave_ ? rough_.first(static_cast<int>(n)) : 2 * times_[n - an_octave_];
      rung_[n] = 1;
    }
  }

  /// Returns F at each break, from 0 to the number of bins.
  std::vector<double> covered() {
    std::vector<double> value(bins_.size() + 1, 1);
    double light = 0, squares = 0;
    bool stale = true;
    for (std::size_t i = bins_.size(); i-- > 1;) {
      light += bins_.unit.value(bins_.light[i][1], 1);
      squares += bins_.unit.value(bins_.light[i][2], 2);
      for (std::size_t x = bins_.first_heavy[i]; x < bins_.first_heavy[i + 1]; ++x, stale = true)
        ring(bins_.heavy[x]);
      if (stale) integrate(bins_.above[i] + light);
      stale = false;
      value[i] = rough_.covered(bins_.above[i], light, squares, sums_.data(), corrections_.data());
    }
    value[0] = 0;
    return value;
  }

 private:
  /// Sets decay_ to e^(-rate t).
  void decay(double rate) {
    for (std::size_t n = 0; n < an_octave_; ++n) decay_[n] = rough_.first_decay(static_cast<int>(n), rate);
    for (std::size_t n = an_octave_; n < decay_.size(); ++n)
      decay_[n] = decay_[n - an_octave_] * decay_[n - an_octave_];
  }

  /// Adds a heavy token to the tokens below.
  void ring(double q) {
    decay(q);
    const std::size_t size = times_.size();
    for (std::size_t k = drafts_; k-- > 1;)
      for (std::size_t n = 0; n < size; ++n) {
        double& here = rung_[k * size + n];
        const double fewer = rung_[(k - 1) * size + n];
        here = fewer + decay_[n] * (here - fewer);
      }
    for (std::size_t n = 0; n < size; ++n) rung_[n] *= decay_[n];
  }

  void integrate(double slow) {
    decay(slow);
    sums_.assign(drafts_, 0);
    corrections_.assign(drafts_, 0);
    const std::size_t size = times_.size();
    for (std::size_t n = 0; n < size; ++n)
      rough_.terms<true>(times_[n], decay_[n], slow, rung_.data() + n, static_cast<int>(size), sums_.data(),
                         corrections_.data(), 1);
  }

  const RaceBins& bins_;
  RoughStep rough_;
  std::size_t drafts_, an_octave_;
  std::vector<double> times_, rung_, decay_;  ///< rung_: Pr(H = k), [k][time]
  std::vector<double> sums_, corrections_;    ///< A_m and B_m
};

}  // namespace draftproof
