// The arithmetic of the rough F (rough_race.hpp): its times, the terms of its integrals at one of them, and F from the
// integrals; for hosts and devices.
//
// Correctness: no function of a library, so hosts and devices form the same numbers.
#pragma once

#include <draftproof/sim/simd/dispatch.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/verifiers/ladder/race_step.hpp>

namespace draftproof {

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

}  // namespace draftproof
