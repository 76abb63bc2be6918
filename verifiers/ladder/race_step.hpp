// The arithmetic of a race of clocks (race_bins.hpp), one time or four at once: the same operations on a host,
// whose wide registers hold four times, and on a device, whose threads hold one each.
//
//   RaceBounds   which tokens are heavy, light and tiny, from a bound of the slowest clocks' rate (race_bins.hpp)
//   RaceTimes    the times: groups of four, in equal ratios 2^(1/4) or, for K > 8, every other one of ratios 2^(1/8)
//   RaceStep     the distribution of the number of clocks that have rung, at one time
//   RoughStep    the approximate F: its times, the terms of its integrals at one time, and F from the integrals
//   LightPowers  powers of light tokens as integers, so that sums do not depend on the order of tokens
//   ChordSums    F at every break, and chords of joined bins, from the chords of single bins
//
// Correctness: no library function is used, so hosts and devices compute the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <draftproof/sim/device/host_device.hpp>
#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/simd/dispatch.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

/// Powers of light tokens as integers.
//
//   unit      2^-10 times the least power of two >= `slowest`; no light token has a larger q
//   r         q / unit, at most 1; exact
//   of(r^m)   r^m in steps of 2^-50, rounded to the nearest
//   value     sum of q^m from the sum of these integers
//
// Correctness: r^m + 6 lies between 6 and 7, where doubles have steps of 2^-50, so its bits less those of 6 count the
// steps. A sum of r over light tokens is at most (sum of light q) / unit < 2^12, and r^m <= r: sums stay below 2^62.
// The sum over V tokens is off by V 2^-51 unit^m at most.
class LightPowers {
 public:
  LightPowers() = default;
  /// `slowest` > 0, or 0 where no token is light.
  DRAFTPROOF_DEVICE explicit LightPowers(double slowest) {
    constexpr double least = 0x1p-1000;  // so that 1 / unit is finite
    const auto bits = bit_cast<std::uint64_t>(slowest > least ? slowest : least);
    unit_ = 0x1p-10 * bit_cast<double>((bits + ((std::uint64_t{1} << 52) - 1)) >> 52 << 52);
  }

  /// 1 / unit.
  DRAFTPROOF_DEVICE double scale() const { return 1 / unit_; }
  /// r^m in steps.
  DRAFTPROOF_DEVICE static std::int64_t of(double power) {
    return bit_cast<std::int64_t>(power + 6.0) - bit_cast<std::int64_t>(6.0);
  }
  /// Sum of q^m.
  DRAFTPROOF_DEVICE double value(std::int64_t sum, int m) const {
    double value = static_cast<double>(sum) * 0x1p-50;
    for (int i = 0; i < m; ++i) value *= unit_;
    return value;
  }

 private:
  double unit_ = 1;
};

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

/// r^m for m = 1 .. 7, by the same products as in every other computation of the sums.
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

/// Bounds of q that separate heavy, light and tiny tokens.
struct RaceBounds {
  static constexpr double light_share = 0x1p-10, tiny_share = 0x1p-15, large = 0x1p-12;
  /// Bound on the number of heavy tokens: 2^11 by the definition of `slowest`, the K - 1 largest, and some for
  /// rounding.
  static constexpr int most_heavy = 2048 + 2 * max_drafts;

  /// Rounded to float, the type in which passes compare.
  DRAFTPROOF_DEVICE static double light(double slowest) { return static_cast<float>(slowest * light_share); }
  DRAFTPROOF_DEVICE static double tiny(double slowest) { return static_cast<float>(slowest * tiny_share); }

  /// Returns a lower bound of the mass of all tokens but the K - 1 largest, or 0 if the bound could be below half of
  /// this mass. Of these K - 1 tokens some may be at most `large`: `rest` is the mass of all tokens without those above
  /// `large`, and `lacking` is the number of the others, each of which counts as `large`.
  DRAFTPROOF_DEVICE static double slowest(Fixed rest, int lacking) {
    const double missed = lacking * large, bound = from_fixed(rest) - missed;
    return bound > (missed > 0x1p-30 ? missed : 0x1p-30) ? bound : 0;
  }
  /// Returns a power of two whose product with the K-th largest entry is about 2^-20, so that V entries up to this size
  /// sum to less than 8 in fixed point.
  DRAFTPROOF_DEVICE static double scale_of_rest(double next) {
    double scale = 1;
    while (next * scale < 0x1p-20 && scale < 0x1p1000) scale *= 2;
    while (next * scale >= 0x1p-19) scale /= 2;
    return scale;
  }
  /// Returns the sum of all entries except the K - 1 largest, added as integers of a scale that suits these entries,
  /// for rows on which slowest() returns 0. `top(k)` is the k-th most probable token.
  template <class L, class Top>
  DRAFTPROOF_DEVICE static double scaled_slowest(const L& distributions, int drafts, const Top& top) {
    if (distributions.vocabulary() < drafts) return 0;
    const double next = distributions.proposal(top(drafts - 1));
    if (!(next > 0)) return 0;
    const double scale = scale_of_rest(next);
    const double rest = distributions.sum([&](Token x) {
      for (int k = 0; k + 1 < drafts; ++k)
        if (top(k) == x) return 0.0;
      return distributions.proposal(x) * scale;
    }) / scale;
    return rest > next ? rest : next;
  }
};

/// F from the chords of bins, for lists of a host or of a team. One thread calls it.
struct ChordSums {
  /// Sets F at every break. From bin `decided` on fewer than K tokens are left, so some draft is above with certainty,
  /// and F is set to 1 even if the rounded sum differs.
  template <class Mass, class Chord, class Covered>
  DRAFTPROOF_DEVICE static void add_up(const Mass& mass, Chord& chord, Covered& covered, std::size_t decided) {
    using Scalar = std::remove_cvref_t<decltype(mass[0])>;
    covered[0] = Scalar{0};
    for (std::size_t i = 0; i < mass.size(); ++i) {
      if (i >= decided) chord[i] = Scalar{0};
      covered[i + 1] = i + 1 < decided ? Scalar(covered[i] + mass[i] * chord[i]) : Scalar{1};
      if (i + 1 == decided && decided < mass.size())
        chord[i] = covered[i] < Scalar{1} ? Scalar((Scalar{1} - covered[i]) / mass[i]) : Scalar{0};
    }
  }
  /// Up to this the difference 1 - q is imprecise: a double q near 1 is off by up to 2^-54, so the relative error of a
  /// larger difference is at most 2^-54 / 2^-31 = 2^-23, as that of an entry of a row of floats. The difference may
  /// even be 0 although other tokens can be drafted.
  static constexpr double imprecise = 0x1p-31;
  /// Returns q / (1 - q) of a token. If 1 - q is at most `least`, uses `rest` instead, the mass of all tokens but
  /// the most probable one: a sum of small entries, whose relative error is small.
  DRAFTPROOF_DEVICE static double odds(double q, double rest, double least) {
    const double others = 1 - q;
    return q / (others > least ? others : rest);
  }
  /// Sets the chords for K = 2. The chord of a bin G with H above it and Z below it is 1 + R(Z) - q(H) R(G) / q(G),
  /// where `odds` has R, the sum of q / (1 - q), of each bin. q(H) is summed from the first bin on, because the
  /// difference of the total mass and the rest would be 0 for masses below 2^-53.
  template <class Mass, class Odds, class Chord>
  DRAFTPROOF_DEVICE static void pairs(const Mass& mass, const Odds& odds, Chord& chord) {
    using Scalar = std::remove_cvref_t<decltype(mass[0])>;
    Scalar above{0}, below{0};
    for (std::size_t i = 0; i < mass.size(); ++i) {
      chord[i] = above;
      above += mass[i];
    }
    for (std::size_t i = mass.size(); i-- > 0;) {
      const Scalar slope = Scalar{1} + below - chord[i] * (odds[i] / mass[i]);
      chord[i] = slope > Scalar{0} ? slope : Scalar{0};  // below only by rounding
      below += odds[i];
    }
  }
  /// Returns the chord of the bin that joins bins a .. b - 1.
  template <class Mass, class Chord>
  DRAFTPROOF_DEVICE static auto joined(const Mass& mass, const Chord& chord, std::size_t a, std::size_t b) {
    using Scalar = std::remove_cvref_t<decltype(mass[0])>;
    Scalar rise{0}, width{0};
    for (std::size_t i = a; i < b; ++i) {
      rise += mass[i] * chord[i];
      width += mass[i];
    }
    return Scalar(rise / width);
  }
  /// Corrects the approximate F between kept breaks a and b by a line from `left` at a to `right` at b, and sets the
  /// chords of the bins there to `slope`.
  template <class Chord, class Covered>
  DRAFTPROOF_DEVICE static void refine(Chord& chord, Covered& covered, int a, int b, double left, double right,
                                       double slope) {
    for (int i = a; i < b; ++i) {
      const double part = static_cast<double>(i - a) / (b - a);
      covered[static_cast<std::size_t>(i)] += left + part * (right - left);
      chord[static_cast<std::size_t>(i)] = slope;
    }
  }
};

/// One time, or four in a register. A struct, because a vector type loses its alignment as a template argument.
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

/// The times of a race of K drafts: time i is lane i % 4 of group i / 4; times double from group g to g + an_octave.
struct RaceTimes {
  /// Nodes whose rate times t exceeds this value have weights below e^-45 < 3e-20.
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
  /// Number of groups until the integrand is negligible. `slowest`: the rate of its decay, which is the mass of all
  /// tokens except the K - 1 largest.
  DRAFTPROOF_DEVICE int groups(double slowest) const {
    const double part = drafts_ / 16.0,
                 last = longest * (part > 1 ? part : 1);  // longer for K > 16: fewer than K may have rung by 45
    int count = an_octave;
    double octaves = 1;
    for (; slowest > 0; ++count) {
      if (count > an_octave && (count - 1) % an_octave == 0) octaves *= 2;
      if (!(first((count - 1) % an_octave, 0) * octaves * slowest < last)) break;
    }
    return count;
  }
  DRAFTPROOF_DEVICE double step() const { return 0.69314718055994530942 / static_cast<double>(4 * an_octave); }

  /// Sum of t g(t) / W over the nodes before the first, where the integrand g of a bin has
  /// g / W = ((c + W) e^(-(c + W) t) - c e^(-ct)) / W, a power series in t; the powers of a geometric sequence of times
  /// add up.
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

/// The distribution of the number of clocks that have rung at the times of a cell: Pr(k) for k < K, in a column.
template <class Cell>
struct RaceStep {
  using Times = typename Cell::Times;
  struct Column {
    Cell* cells;
    DRAFTPROOF_DEVICE DRAFTPROOF_INLINE Times& operator[](std::size_t k) const { return cells[k].at; }
  };

  /// Sets y to 1 - e^(-x) for 0 <= x <= 1/4, the first octave of a rate of at most 1. Twelve terms have a relative
  /// error of x^12 / 13!, about 1e-17.
  DRAFTPROOF_DEVICE DRAFTPROOF_INLINE static void rung_by(const Times& x, Times& y) {
    Times value = Times{} + 1.0;
    for (std::size_t degree = 12; degree > 1; --degree) value = 1.0 - value * (x * inverse(degree));
    y = value * x;
  }
  /// From one octave to the next: y (2 - y) adds one and a half roundings to the relative error of y and does not
  /// amplify it.
  DRAFTPROOF_DEVICE DRAFTPROOF_INLINE static void double_time(const Times& y, Times& twice) { twice = y * (2.0 - y); }

  /// Sets the distribution if no clock has rung.
  DRAFTPROOF_DEVICE DRAFTPROOF_INLINE static void start(std::size_t drafts, Column own) {
    own[0] = Times{} + 1.0;
    for (std::size_t k = 1; k < drafts; ++k) own[k] = Times{} + 0.0;
  }
  /// Adds one clock, which has rung with probability `rung`.
  DRAFTPROOF_DEVICE DRAFTPROOF_INLINE static void ring(const Times& rung, std::size_t drafts, Column own) {
    for (std::size_t k = drafts; k-- > 1;) own[k] += rung * (own[k - 1] - own[k]);
    own[0] -= rung * own[0];
  }
  /// Sets the distribution of the light clocks, of which one or more have rung with probability `rung`: elementary
  /// symmetric functions of e^(qt) - 1, by Newton's identities from the sums of its powers.
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

  /// Sets `term` to t times the integrand of a bin of mass `width`. `above` is the mass of the bins before it, `head`
  /// the probability that a clock of those bins has rung, and `below` is Pr(N' < K).
  DRAFTPROOF_DEVICE DRAFTPROOF_INLINE static void integrand(const Times& t, const Times& head, double above,
                                                            double width, std::size_t drafts, Column own,
                                                            Column counts, const Times& below, Times& term) {
    Times rung = Times{} + 0.0, both = rung;
    for (std::size_t j = 1; j < drafts; ++j) {
      rung = rung + own[j];
      both = both + counts[drafts - 1 - j] * rung;
    }
    // If a rate times t exceeds `longest`, the exact term is nearly 0 and is set to 0, because 1 - e^(-x), rounded to
    // about 1, would be multiplied by a large t.
    const Times none = t * (above + width) <= RaceTimes::longest ? width * own[0] * below : Times{} + 0.0;
    const Times here = t * (1.0 - head) * (none - above * both);
    term = t * above <= RaceTimes::longest ? here : Times{} + 0.0;
  }

  /// Adds the bin to the bins below it; sets `fewer` to Pr(N' < K).
  DRAFTPROOF_DEVICE DRAFTPROOF_INLINE static void join(std::size_t drafts, Column own, Column counts, Times& fewer) {
    fewer = Times{} + 0.0;
    for (std::size_t k = drafts; k-- > 0;) {
      Times value = counts[k] * own[0];
      for (std::size_t j = 1; j <= k; ++j) value = value + counts[k - j] * own[j];
      counts[k] = value;
      fewer = fewer + value;
    }
  }
  /// Sets the values of a time that is spent to 0.
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

// The approximate F, accurate enough to choose the bins that a plan joins (plan.hpp): light tokens are treated as a
// Poisson process, with a first correction.
//
//   c, L, S   mass of the bins above a break, and sums of q and of q^2 over the light tokens below it
//   w_m       e^(-(c + L) t) ((c + L) t)^m / m!
//   H         number of heavy clocks below the break that have rung by t
//   A_m, B_m  integrals over t of w_m Pr(H < K - m) and w_m t^2 / 2 Pr(H = K - 2 - m)
//   F         c times the sum over m < K of (A_m + S B_m) (L / (c + L))^m
//
// Correctness: the logarithm of the generating function of light clocks is the sum of log(1 + (1 - e^(-q t)) (z -
// 1)), which is L t (z - 1) - S t^2 / 2 (z^2 - z) but for terms in q^3. The trapezoid rule in log t errs by 1e-5 or
// less. Plans are lossless for any joined bins, and F is computed again at the breaks that are left (coverage.hpp).

/// The times of the approximate integral, and the terms of its integrand at one time. Runs on hosts and devices.
struct RoughStep {
  /// Later times are omitted to save a device's memory: with K = 32 the times after 2^29.
  static constexpr int most_times = 512, most_counts = 4096;

  DRAFTPROOF_DEVICE explicit RoughStep(int of_drafts) : drafts{of_drafts}, an_octave{of_drafts > 8 ? 4 : 2} {
    start = 0x1p-3;
    for (; rung_before() > 1e-7; start /= RaceTimes::root(4)) {
    }
    step = 0.69314718055994530942 / an_octave;
    const double ratio = RaceTimes::root(8 / an_octave);
    double term = step * start, power = ratio;
    for (int m = 0; m < 4; ++m) {  // the times before the first are start / ratio^n
      before_first[m] = term / (power - 1);
      term *= -start / (m + 1);
      power *= ratio;
    }
  }

  /// Number of times, in whole octaves.
  DRAFTPROOF_DEVICE int times(double slowest) const {
    const double longest = 16 + 2.0 * drafts;  // where w_m < 1e-7
    int count = an_octave;
    const int most = most_counts / drafts < most_times ? most_counts / drafts : most_times;
    for (double t = start; 2 * t * slowest < longest && count + an_octave <= most; t *= 2) count += an_octave;
    return count;
  }
  /// Time n of the first octave.
  DRAFTPROOF_DEVICE double first(int n) const { return start * RaceTimes::root(n * (8 / an_octave)); }
  /// e^(-rate t) at time n of the first octave.
  DRAFTPROOF_DEVICE double first_decay(int n, double rate) const {
    double rung;
    RaceStep<RaceCell<1>>::rung_by(rate * first(n), rung);
    return 1 - rung;
  }

  /// Computes the terms of A_m and B_m at a time t; rung[k * times] is Pr(H = k). Adds them to entry m * places of
  /// the lists, or stores them there.
  template <bool add>
  DRAFTPROOF_DEVICE DRAFTPROOF_INLINE void terms(double t, double decay, double slow, const double* rung, int times,
                                                 double* rough, double* corrections, int places) const {
    double weight[max_drafts], fewer = 0;
    weight[0] = step * t * decay;
    for (int m = 1; m < drafts; ++m) weight[m] = weight[m - 1] * (slow * t) / m;
    for (int m = drafts; m-- > 0;) {
      const double correction = m + 1 < drafts ? weight[m] * (t * t / 2) * rung[(drafts - 2 - m) * times] : 0.0;
      fewer += rung[(drafts - 1 - m) * times];
      rough[m * places] = (add ? rough[m * places] : 0.0) + weight[m] * fewer;
      corrections[m * places] = (add ? corrections[m * places] : 0.0) + correction;
    }
  }
  /// Returns the approximate F at a break (formula above): c = `above`, L = `light`, S = `squares`; `rough` and
  /// `corrections` are the lists of A_m and B_m.
  DRAFTPROOF_DEVICE double covered(double above, double light, double squares, const double* rough,
                                   const double* corrections) const {
    const double part = light / (above + light);
    double sum = 0, before = 0;
    for (int m = drafts; m-- > 0;) sum = sum * part + (rough[m] + squares * corrections[m]);
    for (int m = 4; m-- > 0;) before = before * above + before_first[m];
    const double value = above * (sum + before);
    return value < 1 ? value : 1;
  }

  int drafts, an_octave;
  double start, step;
  double before_first[4];  ///< the sum over times before the first, by powers of c

 private:
  /// start^K / K!, a bound of the probability that K clocks have rung by the first time, `start`.
  DRAFTPROOF_DEVICE double rung_before() const {
    double value = 1;
    for (int k = 1; k <= drafts; ++k) value *= start / k;
    return value;
  }
};

}  // namespace draftproof
