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
// Plans are lossless for any joined bins, and F is computed again at the breaks that are left (wor_coverage.hpp).
#pragma once

#include <cstddef>
#include <vector>

#include <draftproof/verifiers/ladder/race_bins.hpp>
#include <draftproof/verifiers/ladder/rough_step.hpp>

namespace draftproof {

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
