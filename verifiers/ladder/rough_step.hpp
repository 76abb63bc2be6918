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
  /// Times beyond these are left out: with K = 32 those after 2^29.
  static constexpr int most_counts = 4096;

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
    for (double t = start; 2 * t * slowest < longest && (count + an_octave) * drafts <= most_counts; t *= 2)
      count += an_octave;
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

  /// Calls visit(m, of A_m, of B_m) with the terms of a time t, m descending. `rung(k)`: Pr(H = k).
  template <class Rung, class Visit>
  DRAFTPROOF_DEVICE DRAFTPROOF_INLINE void terms(double t, double decay, double slow, const Rung& rung,
                                                const Visit& visit) const {
    double weight[max_drafts], fewer = 0;
    weight[0] = step * t * decay;
    for (int m = 1; m < drafts; ++m) weight[m] = weight[m - 1] * (slow * t) / m;
    for (int m = drafts; m-- > 0;) {
      const double correction = m + 1 < drafts ? weight[m] * (t * t / 2) * rung(drafts - 2 - m) : 0.0;
      fewer += rung(drafts - 1 - m);
      visit(m, weight[m] * fewer, correction);
    }
  }
  /// F with `above` before the break, and `light` and `squares` of light tokens below it. rough(m), correction(m): A, B.
  template <class Rough, class Correction>
  DRAFTPROOF_DEVICE double covered(double above, double light, double squares, const Rough& rough,
                                   const Correction& correction) const {
    const double part = light / (above + light);
    double sum = 0, before = 0;
    for (int m = drafts; m-- > 0;) sum = sum * part + (rough(m) + squares * correction(m));
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
