// The common factor of K-SEQ: the smallest rho at which K drafts, each with mass min(q, p / rho), emit no more than
// p. It is computed in a few passes over fresh rows and rounded up.
//
//   rho      at                                   factor tried; 1 <= rho <= K
//   F, S     distributions.mass_and_slope(rho)    mass of (p - rho q)+ and its slope
//   beta     (1 - F) / rho                        mass that one draft emits
//   gamma    served_by(..)                        (1 - (1 - beta)^K) / beta: K drafts emit gamma min(q, p / rho)
//   loss     (rho - gamma) beta                   (1 - beta)^K - F. rho is valid if this is >= 0; the acceptance at the
//                                                 root then exceeds the acceptance at rho by at most the loss
//
// Search: each factor tried is the root that a model of F predicts. Until a valid factor is known, the model at a
// distance d beyond the last factor is F / (1 + S d / (n F))^n. Its n is the candidate that best predicts the last F
// from the factor before; for n < 0 the model reaches 0. Once a valid factor is known, the root is in a bracket, and
// the model is the cubic through both ends, clamped between their tangents and their chord, where the convex F lies. A
// bracket that shrinks too slowly, as around a token of large mass, is halved.
// Cost: one pass per factor, 3 to 5 on rows of language models, and some hundred scalar operations.
// Source: derived here.
// Correctness: only a factor that was tried and is valid is returned, with its gamma; the models only choose the
// factors to try. At rho = K, gamma is at most K in floating point too, because it is a sum of K terms that are at most
// 1, and rounding is monotone.
#pragma once

#include <draftproof/sim/position.hpp>

namespace draftproof {

/// A valid factor and its gamma.
template <class Scalar>
struct CommonFactor {
  Scalar factor, served;
};

/// Returns gamma at a factor whose F is `mass`, as the sum of (1 - beta)^k over k < K, which avoids a division by beta.
template <class Scalar>
DRAFTPROOF_DEVICE Scalar served_by(const Scalar& one, const Scalar& factor, const Scalar& mass, int drafts) {
  const Scalar refused = one - (one - mass) / factor;
  Scalar total{0};
  for (int k = 0; k < drafts; ++k) total = one + refused * total;
  return total;
}

class CommonFactorSearch {
 public:
  /// Upper bound on the amount by which the acceptance at the root exceeds the acceptance at the factor that find()
  /// returns.
  static constexpr double tolerance = 0x1p-24;

  /// Returns a valid factor and its gamma. The factor is within 1e-6 of the root wherever such a shift changes
  /// acceptance by more than the tolerance.
  template <Distributions L>
  DRAFTPROOF_DEVICE static CommonFactor<double> find(const L& distributions, int drafts) {
    CommonFactorSearch search(drafts);
    double at = 1;
    for (;;) {
      const auto [mass, slope] = distributions.mass_and_slope(at);
      const double served = served_by(1.0, at, mass, drafts);
      if (search.learn({at, mass, slope}, served)) return search.best_;
      at = search.next();
    }
  }

 private:
  struct Point {
    double at, mass, slope;

    DRAFTPROOF_DEVICE double tangent(double factor) const { return mass - slope * (factor - at); }
    /// Returns the model of F at a factor beyond this point. For n < 0 the model is positive on a bounded interval
    /// only.
    DRAFTPROOF_DEVICE double tail(double factor, int n) const {
      if (!(mass > 0)) return 0;
      const double base = 1 + slope * (factor - at) / (n * mass);
      if (!(base > 0)) return 0;
      double power = 1;
      for (int i = 0; i < (n > 0 ? n : -n); ++i) power *= base;
      return n > 0 ? mass / power : mass * power;
    }
  };

  DRAFTPROOF_DEVICE explicit CommonFactorSearch(int drafts)
      : drafts_{drafts}, high_{static_cast<double>(drafts), 0, 0}, width_{drafts - 1.0} {}

  /// Records a tried factor and returns whether the search is over; best_ is then the result.
  DRAFTPROOF_DEVICE bool learn(const Point& point, double served) {
    if (served <= point.at) {
      high_ = point;
      bracketed_ = true;
      best_ = {point.at, served};
      if (point.at <= 1 || (point.at - served) * (1 - point.mass) <= tolerance * point.at) return true;
    } else {
      before_ = low_;
      low_ = point;
      if (point.at >= high_.at) {  // rows of a rounded format may sum to a little more than 1
        best_ = {point.at, served};
        return true;
      }
    }
    // If no double lies between the ends, the upper end is the smallest valid factor, provided it was tried.
    const double middle = low_.at + (high_.at - low_.at) / 2;
    return bracketed_ && !(low_.at < middle && middle < high_.at);
  }

  DRAFTPROOF_DEVICE double next() {
    if (bracketed_) {
      slow_ = high_.at - low_.at > width_ / 4 ? slow_ + 1 : 0;
      width_ = high_.at - low_.at;
      if (slow_ == 3) {
        slow_ = 0;
        return low_.at + width_ / 2;
      }
      return inside(root([this](double factor) { return between(factor); }));
    }
    if (++below_ == 8) return high_.at;
    const int power = best_power();
    return inside(root([this, power](double factor) { return low_.tail(factor, power); }));
  }

  /// Returns a factor that was not tried yet: `factor` if it lies strictly between the ends, otherwise the upper end,
  /// or the middle if the upper end was tried.
  DRAFTPROOF_DEVICE double inside(double factor) const {
    if (factor > low_.at && factor < high_.at) return factor;
    return bracketed_ ? low_.at + (high_.at - low_.at) / 2 : high_.at;
  }

  /// Returns by bisection a factor at which the model's loss is half the tolerance. The factor lies slightly above the
  /// model's root, so that the model's error rarely makes the factor invalid.
  template <class Mass>
  DRAFTPROOF_DEVICE double root(const Mass& mass) const {
    double low = low_.at, high = high_.at;
    for (int step = 0; step < 36; ++step) {  // 2^-36 (K - 1) is far below the resolution of the tolerance
      const double middle = low + (high - low) / 2, mass_there = mass(middle);
      const double loss = (middle - served_by(1.0, middle, mass_there, drafts_)) * (1 - mass_there);
      (loss < tolerance / 2 * middle ? low : high) = middle;
    }
    return high;
  }

  DRAFTPROOF_DEVICE double between(double factor) const {
    const double width = high_.at - low_.at, t = (factor - low_.at) / width, u = 1 - t;
    const double cubic = u * u * (1 + 2 * t) * low_.mass + t * t * (1 + 2 * u) * high_.mass +
                         t * u * width * (t * high_.slope - u * low_.slope);
    const double chord = u * low_.mass + t * high_.mass;
    return least(chord, most(cubic, most(low_.tangent(factor), high_.tangent(factor))));
  }

  DRAFTPROOF_DEVICE int best_power() const {
    int best = 2;
    double error = 2;
    constexpr int powers[] = {1, 2, 4, 8, -16, -8, -4, -2};
    for (const int n : powers) {
      const double off = before_.tail(low_.at, n) - low_.mass, size = off < 0 ? -off : off;
      if (size < error) {
        error = size;
        best = n;
      }
    }
    return best;
  }

  DRAFTPROOF_DEVICE static double least(double a, double b) { return a < b ? a : b; }
  DRAFTPROOF_DEVICE static double most(double a, double b) { return a < b ? b : a; }

  int drafts_, below_ = 0, slow_ = 0;  ///< K; number of factors tried before a valid one; consecutive slow reductions
  bool bracketed_ = false;
  Point before_{0, 1, 1}, low_{0, 1, 1}, high_;  ///< initially at factor 0: F = 1 with slope 1
  double width_;
  CommonFactor<double> best_{};
};

}  // namespace draftproof
