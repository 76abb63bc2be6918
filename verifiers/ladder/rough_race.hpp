// F, the probability that K drafts without replacement hit the first bins, near enough to choose the bins that a plan
// joins (plan.hpp): light tokens count as a Poisson process, with a first correction.
//
//   c, L, S   mass of the bins above a break, and sums of q and of q^2 over the light tokens below it
//   w_m       e^(-(c + L) t) ((c + L) t)^m / m!
//   H         number of heavy clocks below the break that have rung by t
//   A_m, B_m  integrals over t of w_m Pr(H < K - m) and w_m t^2 / 2 Pr(H = K - 2 - m)
//   F         c times the sum over m < K of (A_m + S B_m) (L / (c + L))^m
//
// Cost: O(K) operations on 10 to 40 times for a heavy token, O(K) for a bin: A and B change with heavy tokens only.
// Correctness: the logarithm of the generating function of light clocks is the sum of log(1 + (1 - e^(-q t)) (z - 1)),
// which is L t (z - 1) - S t^2 / 2 (z^2 - z) but for terms in q^3. The trapezoid rule in log t errs by 1e-5 or less.
// Plans are lossless for any joined bins, and F is computed again at the breaks that are left (coverage.hpp).
#pragma once

#include <cstddef>
#include <vector>

#include <draftproof/sim/simd/dispatch.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/verifiers/ladder/race_bins.hpp>
#include <draftproof/verifiers/ladder/race_step.hpp>

namespace draftproof {

// The arithmetic of the rough F (rough_race.hpp): its times, the terms of its integrals at one of them, and F from the
// integrals; for hosts and devices.
//
// Correctness: no function of a library, so hosts and devices form the same numbers.

/// The times of the rough integral and its terms at one of them, for hosts and devices.
struct RoughStep {
  /// Times beyond these are left out, for a device's memory: with K = 32 those after 2^29.
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
  /// e^(-rate t) there.
  DRAFTPROOF_DEVICE double first_decay(int n, double rate) const {
    double rung;
    RaceStep<RaceCell<1>>::rung_by(rate * first(n), rung);
    return 1 - rung;
  }

  /// The terms of A_m and B_m at a time t. rung[k * times]: Pr(H = k). They are added to entry m * places of the lists,
  /// or stored there.
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
  /// F with `above` before the break, and `light` and `squares` of light tokens below it; from A and B.
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
  double before_first[4];  ///< the rule's sum before the first time, by powers of c

 private:
  /// start^K / K!, a bound of the probability that K clocks have rung by then.
  DRAFTPROOF_DEVICE double rung_before() const {
    double value = 1;
    for (int k = 1; k <= drafts; ++k) value *= start / k;
    return value;
  }
};

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

  /// F at each break, from 0 to the number of bins.
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

  /// A heavy token joins those below.
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
