// An exact fraction: two machine words while both parts fit, Boost's integers beyond.
//
// The class keeps Boost out of the sources that compute with it: what a proof instantiates is compiled in seconds
// less, and the short fractions of small instances are several times as fast in words.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>

namespace draftproof {

struct BigRational;  // exact/big_rational.hpp

/// Any fraction, in lowest terms, its denominator positive. Division by 0 throws std::overflow_error.
class Rational {
 public:
  Rational() = default;
  template <std::integral Integer>
  Rational(Integer value) {
    if constexpr (sizeof(Integer) < sizeof numerator_)
      numerator_ = value;
    else
      *this = std::signed_integral<Integer> ? from_signed(static_cast<std::int64_t>(value))
                                            : from_unsigned(static_cast<std::uint64_t>(value));
  }
  /// numerator / denominator. Throws std::overflow_error if the denominator is 0.
  template <std::integral Integer, std::integral Other>
  Rational(Integer numerator, Other denominator) : Rational(Rational(numerator) /= Rational(denominator)) {}
  /// The value of a finite double, all of it.
  explicit Rational(double value);
  /// "3/4", "-2". Throws std::runtime_error at anything else.
  explicit Rational(const std::string& text);
  /// Kept in words if it fits.
  explicit Rational(BigRational value);

  Rational(const Rational& other)
      : numerator_{other.numerator_},
        denominator_{other.denominator_},
        big_{other.big_ ? copy(*other.big_) : nullptr} {}
  Rational(Rational&& other) noexcept
      : numerator_{other.numerator_}, denominator_{other.denominator_}, big_{std::exchange(other.big_, nullptr)} {}
  Rational& operator=(const Rational& other) { return *this = Rational(other); }
  Rational& operator=(Rational&& other) noexcept {
    std::swap(numerator_, other.numerator_);
    std::swap(denominator_, other.denominator_);
    std::swap(big_, other.big_);
    return *this;
  }
  ~Rational() {
    if (big_) release(big_);
  }

  Rational& operator+=(const Rational& other);
  Rational& operator-=(const Rational& other);
  Rational& operator*=(const Rational& other);
  Rational& operator/=(const Rational& other);
  Rational operator-() const { return Rational() -= *this; }

  friend Rational operator+(Rational a, const Rational& b) { return std::move(a += b); }
  friend Rational operator-(Rational a, const Rational& b) { return std::move(a -= b); }
  friend Rational operator*(Rational a, const Rational& b) { return std::move(a *= b); }
  friend Rational operator/(Rational a, const Rational& b) { return std::move(a /= b); }
  friend bool operator==(const Rational& a, const Rational& b) {
    if (a.big_ || b.big_) return a.big_ && b.big_ && a.compare(b) == 0;
    return a.numerator_ == b.numerator_ && a.denominator_ == b.denominator_;
  }
  friend std::strong_ordering operator<=>(const Rational& a, const Rational& b) {
    if (!a.big_ && !b.big_ && a.denominator_ == b.denominator_) return a.numerator_ <=> b.numerator_;
    return a.compare(b) <=> 0;
  }
  friend Rational abs(Rational value) { return value < 0 ? -value : value; }
  friend std::ostream& operator<<(std::ostream& out, const Rational& value);

  /// Below, at or above 0 as this is below, at or above the other.
  int compare(const Rational& other) const;
  bool is_integer() const;
  /// The nearest double.
  explicit operator double() const;
  /// "3/4", or "1" for an integer.
  std::string str() const;
  /// As Boost computes with it.
  BigRational big() const;

 private:
  static Rational from_signed(std::int64_t value);
  static Rational from_unsigned(std::uint64_t value);
  static BigRational* copy(const BigRational& value);
  static void release(BigRational* value);
  /// numerator / denominator, coprime, the latter positive: in words if they fit.
  template <class Wide>
  bool store(Wide numerator, Wide denominator);
  bool in_words(const Rational& other) const { return !big_ && !other.big_; }
  template <class Operation>
  Rational& beyond(const Rational& other, const Operation& operation);

  /// Where big_ is set, that is the value, and does not fit in words: every value has one form.
  std::int64_t numerator_ = 0, denominator_ = 1;
  BigRational* big_ = nullptr;
};

}  // namespace draftproof
