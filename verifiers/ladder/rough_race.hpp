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

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include <draftproof/verifiers/ladder/race_bins.hpp>

namespace draftproof {

class RoughRace {
 public:
  /// `bins` must outlive this.
  RoughRace(const RaceBins& bins, int drafts)
      : bins_{bins}, drafts_{static_cast<std::size_t>(drafts)}, an_octave_{drafts > 8 ? 4u : 2u} {
    const auto k = static_cast<double>(drafts);
    const double ratio = std::exp2(1 / static_cast<double>(an_octave_)), longest = 16 + 2 * k;  // where w_m < 1e-7
    step_ = std::numbers::ln2 / static_cast<double>(an_octave_);
    double t = std::min(0x1p-3, std::pow(1e-7 * std::tgamma(k + 1), 1 / k)), term = step_ * t, power = ratio;
    for (double& sum : before_first_) {  // the times before the first are t / ratio^n
      sum = term / (power - 1);
      term *= -t / static_cast<double>(&sum - before_first_.data() + 1);
      power *= ratio;
    }
    for (; times_.size() < an_octave_ || t * bins.slowest < longest; t *= ratio) times_.push_back(t);
    rung_.assign(drafts_ * times_.size(), 0);
    std::fill_n(rung_.begin(), times_.size(), 1);
    decay_.resize(times_.size());
    terms_.resize(drafts_);
  }

  /// F at each break, from 0 to the number of bins.
  std::vector<double> covered() {
    std::vector<double> value(bins_.size() + 1, 1);
    double light = 0, squares = 0;
    bool stale = true;
    for (std::size_t i = bins_.size(); i-- > 1;) {
      light += bins_.light[i][1];
      squares += bins_.light[i][2];
      for (std::size_t x = bins_.first_heavy[i]; x < bins_.first_heavy[i + 1]; ++x, stale = true)
        ring(bins_.heavy[x]);
      const double above = bins_.above[i], slow = above + light, part = light / slow;
      if (stale) integrate(slow);
      stale = false;
      double sum = 0, before = 0;
      for (std::size_t m = drafts_; m-- > 0;) sum = sum * part + (terms_[m].rough + squares * terms_[m].correction);
      for (std::size_t m = before_first_.size(); m-- > 0;) before = before * above + before_first_[m];
      value[i] = std::min(above * (sum + before), 1.0);
    }
    value[0] = 0;
    return value;
  }

 private:
  /// A_m and B_m.
  struct Terms {
    double rough = 0, correction = 0;
  };

  /// Sets decay_ to e^(-rate t).
  void decay(double rate) {
    for (std::size_t n = 0; n < an_octave_; ++n) decay_[n] = std::exp(-rate * times_[n]);
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
    std::fill(terms_.begin(), terms_.end(), Terms{});
    for (std::size_t n = 0; n < times_.size(); ++n) {
      const double t = times_[n], *const rung = rung_.data() + n;
      double weight[max_drafts], fewer = 0;
      weight[0] = step_ * t * decay_[n];
      for (std::size_t m = 1; m < drafts_; ++m) weight[m] = weight[m - 1] * (slow * t) / static_cast<double>(m);
      for (std::size_t m = drafts_; m-- > 0;) {
        if (m + 1 < drafts_)
          terms_[m].correction += weight[m] * (t * t / 2) * rung[(drafts_ - 2 - m) * times_.size()];
        fewer += rung[(drafts_ - 1 - m) * times_.size()];
        terms_[m].rough += weight[m] * fewer;
      }
    }
  }

  const RaceBins& bins_;
  std::size_t drafts_, an_octave_;
  double step_;
  std::array<double, 4> before_first_;        ///< the rule's sum before the first time, by powers of c
  std::vector<double> times_, rung_, decay_;  ///< rung_: Pr(H = k), [k][time]
  std::vector<Terms> terms_;
};

}  // namespace draftproof
