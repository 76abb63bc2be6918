// Chords of F, the probability that K drafts without replacement hit a prefix of bins, by a race of exponential
// clocks: token x rings at rate q(x), and the first K to ring are the drafts.
//
//   c, W         mass of the bins above a bin, and of the bin
//   N', own      number of clocks that have rung by t, below the bin and in it
//   chord        1/W integral over t of e^(-ct) [W Pr(own = 0) Pr(N' < K)
//                                                - c sum over k + j < K, j > 0, of Pr(N' = k) Pr(own = j)]
//
// A bin's tokens up to `light` enter by their power sums: Pr(own = k) = e^(-Wt) e_k, e_k the elementary symmetric
// functions of e^(qt) - 1, by Newton from the sums of its powers. Heavier tokens multiply in one by one.
// Cost: O(K M) a heavy token, O(K^2 M) a bin; M = 40 to 300 nodes.
// Correctness: Pr(all drafts below a set) is the integral of c e^(-ct) Pr(N' < K) (docs/optimum.md); differences of
// two of them, term by term, give the chord. All terms have the bin's own size, so narrow bins keep their precision.
// Source: derived in docs/ladder.md, "Without replacement".
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numbers>
#include <utility>
#include <vector>

namespace draftproof {

class RaceIntegral {
 public:
  /// `tokens`: bin and q > 0 of each token; bins 0 .. bins - 1 all have tokens. drafts > 2.
  RaceIntegral(const std::vector<std::pair<int, double>>& tokens, int bins, int drafts)
      : drafts_{at(drafts)}, first_(at(bins) + 1, 0), q_(tokens.size()) {
    for (const auto& [bin, q] : tokens) ++first_[at(bin) + 1];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    auto place = first_;
    for (const auto& [bin, q] : tokens) q_[place[at(bin)]++] = q;
    lay_out_times();
  }

  /// (F(bins up to i) - F(bins above i)) / q(bin i) for each bin.
  std::vector<double> chords() {
    const std::size_t bins = first_.size() - 1;
    std::vector<double> mass(bins, 0), above(bins, 0), chord(bins, 0);
    for (std::size_t i = 0; i < bins; ++i)
      for (std::size_t x = first_[i]; x < first_[i + 1]; ++x) mass[i] += q_[x];
    for (std::size_t i = 0; i + 1 < bins; ++i) above[i + 1] = above[i] + mass[i];
    for (std::size_t i = bins; i-- > 0;) {
      // Fewer than K tokens from here on: a draft lies above for certain.
      const bool decided = q_.size() - first_[i] < drafts_;
      ring(i);
      if (!decided)
        chord[i] = integral(above[i], mass[i]) / mass[i];
      else if (i == 0)
        chord[i] = 1 / mass[i];
      join();
    }
    return chord;
  }

 private:
  using Nodes = std::vector<double>;

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  /// Beyond (c + mass that is left to ring) t = 45 a node weighs less than e^-45 < 3e-20.
  static constexpr double longest = 45;
  /// A node with Pr(N' < K) below this adds less than this to any later integral: Pr(N' < K) falls as bins join.
  static constexpr double spent = 1e-20;
  /// Powers of q kept of light tokens. With q t <= 45 / 2^14 a power sum of degree m + 1 is 0.003 of that of degree m,
  /// so that those left out weigh 0.003^6 < 1e-15 of the first.
  static constexpr std::size_t powers = 6;
  static constexpr double light_share = 0x1p-14;

  /// Nodes per factor of two in time: the fewest with a relative error of 1e-14. Off the real axis by an angle d each
  /// probability is at most (sec d)^K times its value at t cos d; the trapezoid rule in log t then errs by at most
  /// 2 (sec d)^K e^(-2 pi d / h) of each of the two terms. The best d has tan d = 2 pi / (h K).
  static std::size_t nodes_per_octave(double drafts) {
    for (std::size_t nodes = 2;; ++nodes) {
      const double frequency = 2 * std::numbers::pi * static_cast<double>(nodes) / std::numbers::ln2;
      const double angle = std::atan(frequency / drafts);
      if (2 * std::pow(std::cos(angle), -drafts) * std::exp(-frequency * angle) <= 1e-14) return nodes;
    }
  }

  void lay_out_times() {
    // Below the first time K clocks have rung with probability at most t^K / K!, and the term of a bin of mass W is
    // off by at most W t^K / (K - 1)! <= 1e-16 W.
    const auto k = static_cast<double>(drafts_);
    start_ = std::pow(1e-16 * std::tgamma(k), 1 / k);
    per_octave_ = nodes_per_octave(k);
    // The integrand decays at the rate of all mass but the K - 1 largest tokens.
    Nodes largest = q_;
    const std::size_t heads = std::min(drafts_ - 1, largest.size());
    std::partial_sort(largest.begin(), largest.begin() + static_cast<std::ptrdiff_t>(heads), largest.end(),
                      std::greater<>{});
    double left = 0;
    for (std::size_t x = largest.size(); x-- > heads;) left += largest[x];
    if (!(left > 0)) return;  // fewer than K tokens: no integral is asked for
    light_ = left * light_share;
    do
      times_.push_back(start_ * std::exp2(static_cast<double>(times_.size()) / static_cast<double>(per_octave_)));
    while (times_.back() * left < longest);
    live_ = times_.size();
    counts_.assign(drafts_, Nodes(live_, 0));
    counts_[0].assign(live_, 1);
    own_ = counts_;
    below_.assign(live_, 1);
    rung_.resize(live_);
    head_.resize(live_);
  }

  /// Sets y[n] = 1 - e^(-rate t): y (2 - y) from octave to octave adds one and a half roundings to the relative error
  /// of y and does not amplify it.
  void ring_by(double rate, Nodes& y) const {
    for (std::size_t n = 0; n < std::min(per_octave_, live_); ++n) y[n] = -std::expm1(-rate * times_[n]);
    for (std::size_t n = per_octave_; n < live_; ++n) y[n] = y[n - per_octave_] * (2 - y[n - per_octave_]);
  }

  /// The law of the number of clocks of bin i that have rung, at every node.
  void ring(std::size_t i) {
    std::array<double, powers + 1> sum{};
    std::size_t lights = 0;
    for (std::size_t x = first_[i]; x < first_[i + 1]; ++x)
      if (const double q = q_[x]; q <= light_ && first_[i + 1] - first_[i] > 1) {
        ++lights;
        double power = 1;
        for (std::size_t m = 1; m <= powers; ++m) sum[m] += power *= q;
      }
    if (lights > 0) {
      light_law(sum);
    } else {
      for (std::size_t k = 0; k < drafts_; ++k) std::fill_n(own_[k].begin(), live_, k == 0 ? 1.0 : 0.0);
    }
    for (std::size_t x = first_[i]; x < first_[i + 1]; ++x)
      if (lights == 0 || q_[x] > light_) {
        ring_by(q_[x], rung_);
        add_clock(own_, rung_);
      }
  }

  /// One more clock, which has rung with probability y.
  void add_clock(std::vector<Nodes>& law, const Nodes& y) const {
    for (std::size_t k = drafts_; k-- > 1;)
      for (std::size_t n = 0; n < live_; ++n) law[k][n] += y[n] * (law[k - 1][n] - law[k][n]);
    for (std::size_t n = 0; n < live_; ++n) law[0][n] -= y[n] * law[0][n];
  }

  /// Sum of (e^(qt) - 1)^m over light tokens: m! S(i, m) / i! t^i times the sum of q^i, S the Stirling numbers of the
  /// second kind.
  static constexpr double stirling[powers + 1][powers + 1] = {
      {},
      {0, 1, 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720},
      {0, 0, 1, 1, 7. / 12, 1. / 4, 31. / 360},
      {0, 0, 0, 1, 3. / 2, 5. / 4, 3. / 4},
      {0, 0, 0, 0, 1, 2, 13. / 6},
      {0, 0, 0, 0, 0, 1, 5. / 2},
      {0, 0, 0, 0, 0, 0, 1}};

  void light_law(const std::array<double, powers + 1>& sum) {
    ring_by(sum[1], rung_);
    for (std::size_t n = 0; n < live_; ++n) {
      const double t = times_[n];
      std::array<double, powers + 1> power{};  // of e^(qt) - 1
      for (std::size_t m = 1; m <= std::min(powers, drafts_ - 1); ++m) {
        double value = 0;
        for (std::size_t i = powers; i >= m; --i) value = value * t + stirling[m][i] * sum[i];
        for (std::size_t i = 0; i < m; ++i) value *= t;
        power[m] = value;
      }
      own_[0][n] = 1;
      for (std::size_t k = 1; k < drafts_; ++k) {
        double value = 0;
        for (std::size_t m = std::min(k, powers); m >= 1; --m)
          value += (m % 2 == 1 ? power[m] : -power[m]) * own_[k - m][n];
        own_[k][n] = value / static_cast<double>(k);
      }
    }
    for (std::size_t k = 0; k < drafts_; ++k)
      for (std::size_t n = 0; n < live_; ++n) own_[k][n] *= 1 - rung_[n];
  }

  /// W times the chord of the bin of mass `width` with `above` before it.
  double integral(double above, double width) {
    ring_by(above, head_);
    const double step = std::numbers::ln2 / static_cast<double>(per_octave_);
    double sum = width * before_start(above, width, step);
    for (std::size_t n = 0; n < live_ && above * times_[n] <= longest; ++n) {
      double own = 0, both = 0;
      for (std::size_t j = 1; j < drafts_; ++j) {
        own += own_[j][n];
        both += counts_[drafts_ - 1 - j][n] * own;
      }
      sum += times_[n] * (1 - head_[n]) * (width * own_[0][n] * below_[n] - above * both);
    }
    return step * sum;
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
  void join() {
    for (std::size_t k = drafts_; k-- > 0;)
      for (std::size_t n = 0; n < live_; ++n) {
        double value = counts_[k][n] * own_[0][n];
        for (std::size_t j = 1; j <= k; ++j) value += counts_[k - j][n] * own_[j][n];
        counts_[k][n] = value;
      }
    for (std::size_t n = 0; n < live_; ++n) {
      double fewer = 0;
      for (std::size_t k = 0; k < drafts_; ++k) fewer += counts_[k][n];
      below_[n] = fewer;
    }
    while (live_ > 0 && below_[live_ - 1] < spent) --live_;
  }

  std::size_t drafts_;
  std::vector<std::size_t> first_;  ///< of bin i: its tokens are first_[i] .. first_[i + 1] - 1
  Nodes q_;
  double start_ = 0, light_ = 0;
  std::size_t per_octave_ = 1, live_ = 0;
  Nodes times_, below_, rung_, head_;  ///< below_: Pr(N' < K)
  std::vector<Nodes> counts_, own_;    ///< Pr(N' = k), Pr(own = k): [k][node]
};

}  // namespace draftproof
