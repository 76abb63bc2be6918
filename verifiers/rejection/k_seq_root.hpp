// The smallest factor at which K drafts, each served min(q, p / rho), together serve no more than p: the root of
// K-SEQ, found in few passes over fresh rows and rounded up.
//
//   rho      at                          factor tried; 1 <= rho <= K
//   F, S     laws.mass_and_slope(rho)    mass of (p - rho q)+ and its slope
//   beta     (1 - F) / rho               what one draft serves
//   gamma    served_by(..)               (1 - (1 - beta)^K) / beta, what K serve of each min(q, p / rho)
//   loss     (rho - gamma) beta          F - (1 - beta)^K turned around
//
// The loss is not negative where rho is valid, and at least the acceptance that the root has beyond rho.
//
// Cost: one pass a factor tried, 3 to 5 on rows of language models, and some hundred operations on scalars beside it.
// Source: derived here. Each factor is the root for a model of F. Before a valid one is known, the model is
// F / (1 + S d / (n F))^n beyond the last factor, n the one that would have foretold it best from the factor before
// (n < 0 ends at 0); then the cubic through both ends of the bracket, held between their tangents and their chord,
// where F, being convex, lies. A bracket that shrinks too slowly, as around a token of much weight, is halved.
// Right because only a factor that was tried and found valid is returned, with the gamma found there; the models
// decide which are tried. At K gamma is at most K in floating point too: a sum of K terms at most 1, rounded
// monotonically.
#pragma once

#include <draftproof/sim/position.hpp>

namespace draftproof {

/// A valid factor and its gamma.
template <class Scalar>
struct CommonFactor {
  Scalar factor, served;
};

/// gamma at a factor where the mass is known, as the sum of (1 - beta)^k over k < K: no division by beta.
template <class Scalar>
DRAFTPROOF_DEVICE Scalar served_by(const Scalar& one, const Scalar& factor, const Scalar& mass, int drafts) {
  const Scalar refused = one - (one - mass) / factor;
  Scalar total{0};
  for (int k = 0; k < drafts; ++k) total = one + refused * total;
  return total;
}

class CommonFactorSearch {
 public:
  /// The root's acceptance is at most this far above that of the factor found.
  static constexpr double tolerance = 0x1p-24;

  /// The factor itself is within 1e-6 of the root wherever moving it that far changes acceptance by more than that.
  template <Laws L>
  DRAFTPROOF_DEVICE static CommonFactor<double> find(const L& laws, int drafts) {
    CommonFactorSearch search(drafts);
    double at = 1;
    for (;;) {
      const auto [mass, slope] = laws.mass_and_slope(at);
      const double served = served_by(1.0, at, mass, drafts);
      if (search.learn({at, mass, slope}, served)) return search.best_;
      at = search.next();
    }
  }

 private:
  struct Point {
    double at, mass, slope;

    DRAFTPROOF_DEVICE double tangent(double factor) const { return mass - slope * (factor - at); }
    /// The model of F beyond this point; n < 0: positive on a bounded stretch only.
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

  /// Whether the search is over; best_ then holds its result.
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
    // No number between the ends: the upper one is the smallest valid factor there is, once it was tried.
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

  /// A factor not tried yet: strictly between the ends, or the upper one if that is still open.
  DRAFTPROOF_DEVICE double inside(double factor) const {
    if (factor > low_.at && factor < high_.at) return factor;
    return bracketed_ ? low_.at + (high_.at - low_.at) / 2 : high_.at;
  }

  /// The upper end of a bracket of the model's root, half the tolerance behind it, so that what is left of the
  /// model's error rarely makes the factor invalid.
  template <class Mass>
  DRAFTPROOF_DEVICE double root(const Mass& mass) const {
    double low = low_.at, high = high_.at;
    for (int step = 0; step < 36; ++step) {  // 2^-36 (K - 1) is far below what the tolerance can tell apart
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

  int drafts_, below_ = 0, slow_ = 0;  ///< factors tried below the root; reductions too small, one after another
  bool bracketed_ = false;
  Point before_{0, 1, 1}, low_{0, 1, 1}, high_;  ///< at 0: F = 1, falling by q's mass
  double width_;
  CommonFactor<double> best_{};
};

}  // namespace draftproof
