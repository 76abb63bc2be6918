// Finite sums of exponentials c_1 e^(-r_1 t) + c_2 e^(-r_2 t) + ..: the form of probabilities in a race of
// exponential clocks as functions of time. Sums, products and the integral over t > 0 keep this form, exactly in
// fractions.
//
//   r, c    terms: rate -> coefficient     rates of equal value are one term
//
// Cost: a product has at most the product of the numbers of terms.
//
// Source: textbook.
#pragma once

#include <map>
#include <utility>

namespace draftproof {

template <class Scalar>
class ExponentialSum {
 public:
  ExponentialSum() = default;
  /// coefficient * e^(-rate t).
  ExponentialSum(Scalar rate, Scalar coefficient) { add(std::move(rate), std::move(coefficient)); }

  /// Adds coefficient * e^(-rate t).
  void add(Scalar rate, const Scalar& coefficient) {
    terms_.try_emplace(std::move(rate), 0).first->second += coefficient;
  }

  ExponentialSum& operator+=(const ExponentialSum& other) {
    for (const auto& [rate, coefficient] : other.terms_) add(rate, coefficient);
    return *this;
  }
  friend ExponentialSum operator*(const ExponentialSum& a, const ExponentialSum& b) {
    ExponentialSum product;
    for (const auto& [rate, coefficient] : a.terms_)
      for (const auto& [other_rate, other] : b.terms_)
        product.add(Scalar(rate + other_rate), Scalar(coefficient * other));
    return product;
  }

  /// The integral over t > 0. Requires every rate to be positive.
  Scalar integral() const {
    Scalar sum = 0;
    for (const auto& [rate, coefficient] : terms_) sum += Scalar(coefficient / rate);
    return sum;
  }

 private:
  std::map<Scalar, Scalar> terms_;
};

}  // namespace draftproof
