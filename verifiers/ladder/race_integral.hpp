// Chords of F, the probability that K drafts without replacement hit a prefix of bins, by a race of exponential
// clocks: token x rings at rate q(x), and the first K to ring are the drafts.
//
//   c, W         mass of the bins above a bin, and of the bin
//   N', own      number of clocks that have rung by t, below the bin and in it
//   chord        1/W integral over t of e^(-ct) [W Pr(own = 0) Pr(N' < K)
//                                                - c sum over k + j < K, j > 0, of Pr(N' = k) Pr(own = j)]
//   Times        four times t, in equal ratios 2^(1/4) or, for K > 8, every other one of ratios 2^(1/8)
//
// A bin's light tokens enter by their power sums: Pr(own = k) = e^(-Wt) e_k, e_k the elementary symmetric functions of
// e^(qt) - 1, by Newton from the sums of its powers. Heavier tokens multiply in one by one (race_bins.hpp).
// Cost: O(K) operations on all times for a heavy token, O(K^2) for a bin; 12 to 60 octaves of times.
// Correctness: Pr(all drafts below a set) is the integral of c e^(-ct) Pr(N' < K) (docs/optimum.md); differences of
// two of them, term by term, give the chord. All terms have the bin's own size, so narrow bins keep their precision.
// The trapezoid rule in log t errs by less than 1e-15 of each of the two terms: off the real axis by an angle d a
// probability is at most (sec d)^K times its value at t cos d, so with n nodes an octave the error is at most
// 2 (sec d)^K e^(-2 pi n d / ln 2); the best d has tan d = 2 pi n / (K ln 2). Sums go lane by lane in one order, so
// every width gives the same bits.
// Source: derived in docs/ladder.md, "Without replacement".
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include <draftproof/sim/simd/dispatch.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/verifiers/ladder/race_bins.hpp>

namespace draftproof {

class RaceIntegral {
 public:
  /// drafts > 2; `bins` must outlive this.
  RaceIntegral(const RaceBins& bins, int drafts) : bins_{bins}, drafts_{static_cast<std::size_t>(drafts)} {
    // Below the first time K clocks have rung with probability at most t^K / K!, and the term of a bin of mass W is
    // off by at most W t^K / (K - 1)! <= 1e-16 W.
    const auto k = static_cast<double>(drafts);
    start_ = std::min(0x1p-3, std::pow(1e-16 * std::tgamma(k), 1 / k));
    // The integrand decays at the rate of all mass but the K - 1 largest tokens.
    an_octave_ = drafts > 8 ? 2 : 1;
    const double step = std::exp2(1.0 / static_cast<double>(lanes * an_octave_));
    double start = start_;
    for (std::size_t phase = 0; phase < an_octave_; ++phase, start *= step) {
      Cell cell{};
      for (std::size_t lane = 0; lane < lanes; ++lane)
        set(cell.at, lane, start * std::exp2(static_cast<double>(lane) / lanes));
      times_.push_back(cell);
    }
    const double last = longest * std::max(1.0, k / 16);  // K / 16 more while K - 1 rings of 45 are likely
    while (bins.slowest > 0 && get(times_.back().at, 0) * bins.slowest < last)
      times_.push_back({times_[times_.size() - an_octave_].at * 2.0});
    groups_ = live_ = times_.size();
    counts_.assign(drafts_ * groups_, Cell{Times{} + 0.0});
    own_ = counts_;
    below_.assign(groups_, Cell{Times{} + 1.0});
    for (std::size_t n = 0; n < groups_; ++n) counts_[n] = below_[n];
    rung_.resize(groups_);
  }

  /// (F(bins up to i) - F(bins above i)) / q(bin i) for each bin.
  std::vector<double> chords() {
#if DRAFTPROOF_WIDE
    if (simd::in_use() == simd::Width::avx512) return chords_avx512();
    if (simd::in_use() == simd::Width::avx2) return chords_avx2();
#endif
    return all_chords();
  }

 private:
#if defined(__CUDACC__)
  using Times = double;  // never run there
  static constexpr std::size_t lanes = 1;
  static void set(Times& times, std::size_t, double value) { times = value; }
  static double get(const Times& times, std::size_t) { return times; }
#else
  static constexpr std::size_t lanes = 4;
  using Times [[gnu::vector_size(lanes * sizeof(double))]] = double;
  static void set(Times& times, std::size_t lane, double value) { times[lane] = value; }
  static double get(const Times& times, std::size_t lane) { return times[lane]; }
#endif

  /// Four times in a list: template arguments lose the alignment of a vector type, members keep it.
  struct alignas(lanes * sizeof(double)) Cell {
    Times at;
  };

  /// Beyond a rate times t of 45 a node weighs less than e^-45 < 3e-20.
  static constexpr double longest = 45;
  /// Times with Pr(N' < K) below this adds less than this to any later integral: Pr(N' < K) falls as bins join.
  static constexpr double spent = 1e-20;

#if DRAFTPROOF_WIDE
  DRAFTPROOF_AVX2 std::vector<double> chords_avx2() { return all_chords(); }
  DRAFTPROOF_AVX512 std::vector<double> chords_avx512() { return all_chords(); }
#endif

  DRAFTPROOF_INLINE std::vector<double> all_chords() {
    std::vector<double> chord(bins_.size(), 0);
    for (std::size_t i = bins_.size(); i-- > 0;) {
      const double above = bins_.above[i], width = bins_.mass[i];
      ring(i);
      // Fewer than K tokens from here on: a draft lies above for certain.
      if (!bins_.short_from(i))
        chord[i] = integral(above, width) / width;
      else if (i == 0)
        chord[i] = 1 / width;
      join();
    }
    return chord;
  }

  /// 1 / k.
  static constexpr auto inverse = [] {
    std::array<double, max_drafts + 1> values{};
    for (std::size_t k = 1; k < values.size(); ++k) values[k] = 1 / static_cast<double>(k);
    return values;
  }();

  /// 1 - e^(-x) for 0 <= x <= 1/4, the first octave of a rate of at most 1. Twelve terms err by 1e-17 of it, x^12 / 13!.
  DRAFTPROOF_INLINE static void rung_by(const Times& x, Times& y) {
    Times value = Times{} + 1.0;
    for (std::size_t degree = 12; degree > 1; --degree) value = 1.0 - value * (x * inverse[degree]);
    y = value * x;
  }

  /// Sets y to 1 - e^(-rate t): y (2 - y) from octave to octave adds one and a half roundings to the relative error of
  /// y and does not amplify it.
  DRAFTPROOF_INLINE void ring_by(double rate, Cell* y) const {
    for (std::size_t n = 0; n < an_octave_; ++n) rung_by(times_[n].at * rate, y[n].at);
    for (std::size_t n = an_octave_; n < live_; ++n) y[n].at = y[n - an_octave_].at * (2.0 - y[n - an_octave_].at);
  }

  DRAFTPROOF_INLINE Cell* own(std::size_t k) { return own_.data() + k * groups_; }
  DRAFTPROOF_INLINE Cell* counts(std::size_t k) { return counts_.data() + k * groups_; }

  /// The law of the number of clocks of bin i that have rung.
  DRAFTPROOF_INLINE void ring(std::size_t i) {
    const RaceBins::Powers& light = bins_.light[i];
    if (light[1] > 0) {
      light_law(light);
    } else {
      for (std::size_t k = 0; k < drafts_; ++k)
        for (std::size_t n = 0; n < live_; ++n) own(k)[n].at = Times{} + (k == 0 ? 1.0 : 0.0);
    }
    for (std::size_t x = bins_.first_heavy[i]; x < bins_.first_heavy[i + 1]; ++x) {
      ring_by(bins_.heavy[x], rung_.data());
      for (std::size_t k = drafts_; k-- > 1;)
        for (std::size_t n = 0; n < live_; ++n) own(k)[n].at += rung_[n].at * (own(k - 1)[n].at - own(k)[n].at);
      for (std::size_t n = 0; n < live_; ++n) own(0)[n].at -= rung_[n].at * own(0)[n].at;
    }
  }

  DRAFTPROOF_INLINE void light_law(const RaceBins::Powers& sum) {
    constexpr std::size_t powers = RaceBins::powers;
    ring_by(sum[1], rung_.data());
    for (std::size_t n = 0; n < live_; ++n) {
      const Times t = times_[n].at;
      Times power[powers + 1], symmetric[max_drafts];
      Times scale = t;
      for (std::size_t m = 1; m <= powers && m < drafts_; ++m, scale = scale * t) {
        Times value = Times{} + 0.0;
        for (std::size_t p = powers; p >= m; --p) value = value * t + RaceBins::stirling[m][p] * sum[p];
        power[m] = m % 2 == 1 ? value * scale : -value * scale;
      }
      symmetric[0] = 1.0 - rung_[n].at;
      own(0)[n].at = symmetric[0];
      for (std::size_t k = 1; k < drafts_; ++k) {
        Times value = Times{} + 0.0;
        for (std::size_t m = k < powers ? k : powers; m >= 1; --m) value = value + power[m] * symmetric[k - m];
        symmetric[k] = value * inverse[k];
        own(k)[n].at = symmetric[k];
      }
    }
  }

  /// W times the chord of the bin of mass `width` with `above` before it.
  DRAFTPROOF_INLINE double integral(double above, double width) {
    const double step = std::numbers::ln2 / static_cast<double>(4 * an_octave_);
    ring_by(above, rung_.data());
    Times sum = Times{} + 0.0;
    for (std::size_t n = 0; n < live_ && !(get(times_[n].at, 0) * above > longest); ++n) {
      const Times t = times_[n].at, head = rung_[n].at;
      Times rung = Times{} + 0.0, both = rung;
      for (std::size_t j = 1; j < drafts_; ++j) {
        rung = rung + own(j)[n].at;
        both = both + counts(drafts_ - 1 - j)[n].at * rung;
      }
      // Where a rate times t is long, 1 - e^(-x) has rounded to 1 or next to it, and t may be large.
      const Times none = t * (above + width) <= longest ? width * own(0)[n].at * below_[n].at : Times{} + 0.0;
      const Times term = t * (1.0 - head) * (none - above * both);
      sum = sum + (t * above <= longest ? term : Times{} + 0.0);
    }
    double total = width * before_start(above, width, step);
    for (std::size_t lane = 0; lane < lanes; ++lane) total += get(sum, lane);
    return step * total;
  }

  /// Sum of t g(t) / W over the nodes before the first: there g / W = ((c + W) e^(-(c + W) t) - c e^(-ct)) / W, a power
  /// series in t, and the powers of a geometric sequence of times add up.
  double before_start(double c, double width, double step) const {
    double sum = 0, factor = start_, mix = 1, last = 1;  // mix: sum of (c + W)^i c^(m - i), last: c^m
    for (int m = 0;; ++m) {
      const double ratio = std::exp(-step * (m + 1));
      sum += factor * mix * ratio / (1 - ratio);
      factor *= -start_ / (m + 1);
      last *= c;
      mix = mix * (c + width) + last;
      if (std::abs(factor) * (m + 2) < 1e-17 * start_) return sum;  // mix <= m + 2
    }
  }

  /// The bin joins those below.
  DRAFTPROOF_INLINE void join() {
    for (std::size_t n = 0; n < live_; ++n) {
      Times fewer = Times{} + 0.0;
      for (std::size_t k = drafts_; k-- > 0;) {
        Times value = counts(k)[n].at * own(0)[n].at;
        for (std::size_t j = 1; j <= k; ++j) value = value + counts(k - j)[n].at * own(j)[n].at;
        counts(k)[n].at = value;
        fewer = fewer + value;
      }
      below_[n].at = fewer;
    }
    while (live_ > 0 && get(below_[live_ - 1].at, 0) < spent) --live_;
  }

  const RaceBins& bins_;
  std::size_t drafts_, groups_ = 0, live_ = 0;
  double start_ = 0;
  std::size_t an_octave_ = 1;               ///< groups of times in an octave
  std::vector<Cell> counts_, own_;          ///< Pr(N' = k), Pr(own = k): [k][group]
  std::vector<Cell> times_, below_, rung_;  ///< Pr(N' < K)
};

}  // namespace draftproof
