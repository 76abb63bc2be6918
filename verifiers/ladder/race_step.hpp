// The arithmetic of a race of clocks (race_bins.hpp), one time or four at once: the same operations on a host,
// whose wide registers hold four times, and on a device, whose threads hold one each.
//
//   RaceBounds   which tokens are heavy, light and tiny, from a bound of the slowest clocks (race_bins.hpp)
//   RaceTimes    the times: groups of four, in equal ratios 2^(1/4) or, for K > 8, every other one of ratios 2^(1/8)
//   RaceStep     the law of the number of clocks that have rung, at one time
//
// Correctness: no function of a library, so hosts and devices form the same numbers.
#pragma once

#include <array>
#include <cstddef>

#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/simd/dispatch.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

/// Sums of q^m over light tokens, m = 1 .. 7.
struct LightSums {
  static constexpr std::size_t powers = 7;
  double of[powers + 1] = {};

  /// Sum of (e^(qt) - 1)^m over light tokens: the sum over i of m! S(i, m) / i! t^i times the sum of q^i, S the
  /// Stirling numbers of the second kind.
  DRAFTPROOF_DEVICE DRAFTPROOF_INLINE static double stirling(std::size_t m, std::size_t i) {
    static constexpr double numbers[powers + 1][powers + 1] = {
        {},
        {0, 1, 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040},
        {0, 0, 1, 1, 7. / 12, 1. / 4, 31. / 360, 1. / 40},
        {0, 0, 0, 1, 3. / 2, 5. / 4, 3. / 4, 43. / 120},
        {0, 0, 0, 0, 1, 2, 13. / 6, 5. / 3},
        {0, 0, 0, 0, 0, 1, 5. / 2, 10. / 3},
        {0, 0, 0, 0, 0, 0, 1, 3},
        {0, 0, 0, 0, 0, 0, 0, 1}};
    return numbers[m][i];
  }
};

/// r^m for m = 1 .. 7, by the products that every form of the sums takes.
DRAFTPROOF_DEVICE inline double power_of(double r, std::size_t m) {
  const double square = r * r, fourth = square * square;
  switch (m) {
    case 1:
      return r;
    case 2:
      return square;
    case 3:
      return r * square;
    case 4:
      return fourth;
    case 5:
      return fourth * r;
    case 6:
      return fourth * square;
    default:
      return fourth * square * r;
  }
}

/// Which tokens count as what.
struct RaceBounds {
  static constexpr double light_share = 0x1p-10, tiny_share = 0x1p-15, large = 0x1p-12;
  /// Most heavy tokens: 2^10 of each half of the mass beside the K - 1 largest, these, and roundings.
  static constexpr int most_heavy = 2048 + 2 * max_drafts;

  /// In float, as passes compare.
  DRAFTPROOF_DEVICE static double light(double slowest) { return static_cast<float>(slowest * light_share); }
  DRAFTPROOF_DEVICE static double tiny(double slowest) { return static_cast<float>(slowest * tiny_share); }

  /// A bound of the mass beside the K - 1 largest tokens: `rest` is without those of them that are large, and `large`
  /// stands for each of the `lacking` others. 0 where that could be below half of the mass.
  DRAFTPROOF_DEVICE static double slowest(Fixed rest, int lacking) {
    const double missed = lacking * large, bound = from_fixed(rest) - missed;
    return bound > (missed > 0x1p-30 ? missed : 0x1p-30) ? bound : 0;
  }
  /// A power of two times which the K-th largest entry is about 2^-20: V entries of at most that size sum to less
  /// than 8 in fixed point.
  DRAFTPROOF_DEVICE static double scale_of_rest(double next) {
    double scale = 1;
    while (next * scale < 0x1p-20 && scale < 0x1p1000) scale *= 2;
    while (next * scale >= 0x1p-19) scale /= 2;
    return scale;
  }
  /// `sum`: that of the scaled entries.
  DRAFTPROOF_DEVICE static double scaled_slowest(double next, double scale, double sum) {
    const double rest = sum / scale;
    return rest > next ? rest : next;
  }
};

/// One time, or four in a register: template arguments lose the alignment of a vector type, members keep it.
template <int lanes>
struct RaceCell;
template <>
struct RaceCell<1> {
  using Times = double;
  Times at;
  DRAFTPROOF_DEVICE static void set(Times& times, std::size_t, double value) { times = value; }
  DRAFTPROOF_DEVICE static double get(const Times& times, std::size_t) { return times; }
};
#if !defined(__CUDACC__)
template <>
struct alignas(32) RaceCell<4> {
  using Times [[gnu::vector_size(4 * sizeof(double))]] = double;
  Times at;
  static void set(Times& times, std::size_t lane, double value) { times[lane] = value; }
  static double get(const Times& times, std::size_t lane) { return times[lane]; }
};
#endif

/// The times of a race of K drafts: time i is lane i % 4 of group i / 4, groups of an octave are `an_octave` apart.
struct RaceTimes {
  /// Beyond a rate times t of 45 a node weighs less than e^-45 < 3e-20.
  static constexpr double longest = 45;
  /// Times with Pr(N' < K) below this add less than this to any later integral: Pr(N' < K) falls as bins join.
  static constexpr double spent = 1e-20;

  DRAFTPROOF_DEVICE explicit RaceTimes(int drafts) : an_octave{drafts > 8 ? 2 : 1}, drafts_{drafts} {
    // Below the first time K clocks have rung with probability at most t^K / K!, and the term of a bin of mass W is
    // off by at most W t^K / (K - 1)! <= 1e-16 W.
    while (early() > 1e-16) start *= 0.8408964152537145430;  // 2^(-1/4)
  }

  /// 2^(j/8).
  DRAFTPROOF_DEVICE static double root(int j) {
    constexpr double roots[9] = {1,
                                 1.0905077326652576592,
                                 1.1892071150027210667,
                                 1.2968395546510096659,
                                 1.4142135623730950488,
                                 1.5422108254079408236,
                                 1.6817928305074290861,
                                 1.8340080864093424635,
                                 2};
    return roots[j];
  }
  /// Time `lane` of group `group` of the first octave.
  DRAFTPROOF_DEVICE double first(int group, int lane) const { return start * root(2 * lane + group); }
  /// Groups that are needed: the integrand decays at the rate `slowest`, of all mass but the K - 1 largest tokens.
  DRAFTPROOF_DEVICE int groups(double slowest) const {
    const double part = drafts_ / 16.0,
                 last = longest * (part > 1 ? part : 1);  // more while K - 1 rings of 45 are likely
    int count = an_octave;
    double octaves = 1;
    for (; slowest > 0; ++count) {
      if (count > an_octave && (count - 1) % an_octave == 0) octaves *= 2;
      if (!(first((count - 1) % an_octave, 0) * octaves * slowest < last)) break;
    }
    return count;
  }
  DRAFTPROOF_DEVICE double step() const { return 0.69314718055994530942 / static_cast<double>(4 * an_octave); }

  /// Sum of t g(t) / W over the nodes before the first: there g / W = ((c + W) e^(-(c + W) t) - c e^(-ct)) / W, a power
  /// series in t, and the powers of a geometric sequence of times add up.
  DRAFTPROOF_DEVICE double before_start(double c, double width) const {
    const double ratio = an_octave == 2 ? 0.9170040432046712317 : 0.8408964152537145430;  // 2^(-1/8), 2^(-1/4)
    double sum = 0, factor = start, mix = 1, last = 1, power = ratio;  // mix: sum of (c + W)^i c^(m - i), last: c^m
    for (int m = 0;; ++m, power *= ratio) {
      sum += factor * mix * power / (1 - power);
      factor *= -start / (m + 1);
      last *= c;
      mix = mix * (c + width) + last;
      if ((factor < 0 ? -factor : factor) * (m + 2) < 1e-17 * start) return sum;  // mix <= m + 2
    }
  }

  int an_octave;  ///< groups of times in an octave
  double start = 0x1p-3;

 private:
  /// start^K / (K - 1)!.
  DRAFTPROOF_DEVICE double early() const {
    double value = start;
    for (int k = 1; k < drafts_; ++k) value *= start / k;
    return value;
  }
  int drafts_;
};

/// The law of the number of clocks that have rung at the times of a cell: Pr(k) for k < K, in a column.
template <class Cell>
struct RaceStep {
  using Times = typename Cell::Times;
  struct Column {
    Cell* cells;
    DRAFTPROOF_DEVICE DRAFTPROOF_INLINE Times& operator[](std::size_t k) const { return cells[k].at; }
  };

  /// Sets y to 1 - e^(-x) for 0 <= x <= 1/4, the first octave of a rate of at most 1. Twelve terms err by 1e-17 of it,
  /// x^12 / 13!.
  DRAFTPROOF_DEVICE DRAFTPROOF_INLINE static void rung_by(const Times& x, Times& y) {
    Times value = Times{} + 1.0;
    for (std::size_t degree = 12; degree > 1; --degree) value = 1.0 - value * (x * inverse(degree));
    y = value * x;
  }
  /// From one octave to the next: y (2 - y) adds one and a half roundings to the relative error of y and does not
  /// amplify it.
  DRAFTPROOF_DEVICE DRAFTPROOF_INLINE static void double_time(const Times& y, Times& twice) { twice = y * (2.0 - y); }

  /// No clock has rung.
  DRAFTPROOF_DEVICE DRAFTPROOF_INLINE static void start(std::size_t drafts, Column own) {
    own[0] = Times{} + 1.0;
    for (std::size_t k = 1; k < drafts; ++k) own[k] = Times{} + 0.0;
  }
  /// One more clock, which has rung with probability `rung`.
  DRAFTPROOF_DEVICE DRAFTPROOF_INLINE static void ring(const Times& rung, std::size_t drafts, Column own) {
    for (std::size_t k = drafts; k-- > 1;) own[k] += rung * (own[k - 1] - own[k]);
    own[0] -= rung * own[0];
  }
  /// Light clocks, of which one or more have rung with probability `rung`: elementary symmetric functions of
  /// e^(qt) - 1, by Newton from the sums of its powers.
  DRAFTPROOF_DEVICE DRAFTPROOF_INLINE static void ring_light(const Times& t, const Times& rung, const LightSums& sum,
                                                             std::size_t drafts, Column own) {
    constexpr std::size_t powers = LightSums::powers;
    Times power[powers + 1];
    Times scale = t;
    for (std::size_t m = 1; m <= powers && m < drafts; ++m, scale = scale * t) {
      Times value = Times{} + 0.0;
      for (std::size_t p = powers; p >= m; --p) value = value * t + LightSums::stirling(m, p) * sum.of[p];
      power[m] = m % 2 == 1 ? value * scale : -value * scale;
    }
    own[0] = 1.0 - rung;
    for (std::size_t k = 1; k < drafts; ++k) {
      Times value = Times{} + 0.0;
      for (std::size_t m = k < powers ? k : powers; m >= 1; --m) value = value + power[m] * own[k - m];
      own[k] = value * inverse(k);
    }
  }

  /// Sets `term` to t times the integrand of the bin of mass `width` with `above` before it, of which no clock has
  /// rung but with probability `head`. `below`: Pr(N' < K).
  DRAFTPROOF_DEVICE DRAFTPROOF_INLINE static void integrand(const Times& t, const Times& head, double above,
                                                            double width, std::size_t drafts, Column own,
                                                            Column counts, const Times& below, Times& term) {
    Times rung = Times{} + 0.0, both = rung;
    for (std::size_t j = 1; j < drafts; ++j) {
      rung = rung + own[j];
      both = both + counts[drafts - 1 - j] * rung;
    }
    // Where a rate times t is long, 1 - e^(-x) has rounded to 1 or next to it, and t may be large.
    const Times none = t * (above + width) <= RaceTimes::longest ? width * own[0] * below : Times{} + 0.0;
    const Times here = t * (1.0 - head) * (none - above * both);
    term = t * above <= RaceTimes::longest ? here : Times{} + 0.0;
  }

  /// The bin joins those below; sets `fewer` to Pr(N' < K).
  DRAFTPROOF_DEVICE DRAFTPROOF_INLINE static void join(std::size_t drafts, Column own, Column counts, Times& fewer) {
    fewer = Times{} + 0.0;
    for (std::size_t k = drafts; k-- > 0;) {
      Times value = counts[k] * own[0];
      for (std::size_t j = 1; j <= k; ++j) value = value + counts[k - j] * own[j];
      counts[k] = value;
      fewer = fewer + value;
    }
  }
  /// Times that are spent count no longer.
  DRAFTPROOF_DEVICE DRAFTPROOF_INLINE static void drop(std::size_t drafts, Column counts, Times& below) {
    for (std::size_t k = 0; k < drafts; ++k) counts[k] = Times{} + 0.0;
    below = Times{} + 0.0;
  }

 private:
  /// 1 / k.
  DRAFTPROOF_DEVICE DRAFTPROOF_INLINE static double inverse(std::size_t k) {
#if defined(__CUDA_ARCH__)
    return 1 / static_cast<double>(k);
#else
    return inverses[k];
#endif
  }
  static constexpr auto inverses = [] {
    std::array<double, max_drafts + 1> values{};
    for (std::size_t k = 1; k < values.size(); ++k) values[k] = 1 / static_cast<double>(k);
    return values;
  }();
};

}  // namespace draftproof
