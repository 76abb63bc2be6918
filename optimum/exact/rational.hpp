// Exact fractions, and distributions in fractions: construction from weights, conversion to text, and distance.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <compare>
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace draftproof {

// An exact fraction: two machine words (std::int64_t) while both parts fit, otherwise Boost's integers.
//
// The class hides Boost's headers from the sources that use the class, which therefore compile seconds faster. The
// short fractions of small instances are several times as fast in machine words.

struct BigRational;  // defined below

/// A fraction in lowest terms with a positive denominator.
/// Throws: std::overflow_error on division by 0.
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
  /// Constructs numerator / denominator. Throws: std::overflow_error if the denominator is 0.
  template <std::integral Integer, std::integral Other>
  Rational(Integer numerator, Other denominator) : Rational(Rational(numerator) /= Rational(denominator)) {}
  /// Constructs the exact value of a finite double.
  explicit Rational(double value);
  /// Parses "3/4" or "-2". Throws: std::runtime_error on any other text.
  explicit Rational(const std::string& text);
  /// Constructs a fraction that is given in lowest terms; stores it in machine words if it fits.
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
    if (a.big_ || b.big_) return a.big_ && b.big_ && same(*a.big_, *b.big_);
    return a.numerator_ == b.numerator_ && a.denominator_ == b.denominator_;
  }
  friend std::strong_ordering operator<=>(const Rational& a, const Rational& b) {
    if (!a.big_ && !b.big_ && a.denominator_ == b.denominator_) return a.numerator_ <=> b.numerator_;
    return a.compare(b) <=> 0;
  }
  friend Rational abs(Rational value) { return value < 0 ? -value : value; }
  friend std::ostream& operator<<(std::ostream& out, const Rational& value);

  /// Returns a negative number, 0 or a positive number if this value is below, equal to or above the other.
  int compare(const Rational& other) const;
  /// Returns -1, 0 or 1.
  int sign() const;
  /// Whether the denominator is 1.
  bool is_integer() const;
  /// Returns the nearest double.
  explicit operator double() const;
  /// Returns "3/4", or "1" for an integer.
  std::string str() const;
  /// Returns the value in Boost's integers.
  BigRational big() const;

 private:
  static Rational from_signed(std::int64_t value);
  static Rational from_unsigned(std::uint64_t value);
  static BigRational* copy(const BigRational& value);
  static void release(BigRational* value);
  static bool same(const BigRational& a, const BigRational& b);
  /// Stores numerator / denominator (coprime, the latter positive) in machine words; returns false if they do not
  /// fit.
  template <class Wide>
  bool store(Wide numerator, Wide denominator);
  bool in_words(const Rational& other) const { return !big_ && !other.big_; }
  /// Moves the value of big_ into machine words if the value fits.
  void into_words();
  /// Moves this value into big_, calls operation(*big_, numerator of other, denominator of other), and moves the result
  /// into machine words if the result fits.
  template <class Operation>
  Rational& beyond(const Rational& other, const Operation& operation);

  /// big_ is null if the value fits in machine words; otherwise big_ points to the value. So equal values are stored in
  /// the same way.
  std::int64_t numerator_ = 0, denominator_ = 1;
  BigRational* big_ = nullptr;
};

// Fractions of Boost's integers, the representation of a draftproof::Rational that does not fit in machine words.

using BigInteger = boost::multiprecision::cpp_int;

/// A fraction in lowest terms with a positive denominator.
struct BigRational {
  BigInteger numerator, denominator = 1;
};

/// Returns numerator / denominator in lowest terms. Requires a positive denominator.
inline Rational quotient(BigInteger numerator, BigInteger denominator) {
  if (const BigInteger common = gcd(numerator, denominator); common != 1) {
    numerator /= common;
    denominator /= common;
  }
  return Rational(BigRational{std::move(numerator), std::move(denominator)});
}

/// Returns integer weights divided by their sum. Requires non-negative weights, at least one of them positive.
std::vector<Rational> normalised(std::span<const int> weights);

/// Returns "3/4", or "1" for an integer.
std::string to_text(const Rational& value);

/// Returns "(1/4 3/4)".
std::string to_text(std::span<const Rational> distribution);

/// Returns the same text as to_text, but with decimals for fractions that are too long to read: "0.123456789...".
std::string brief(const Rational& value);
std::string brief(std::span<const Rational> distribution);

/// Returns half the L1 distance of two distributions of equal size.
Rational total_variation(std::span<const Rational> a, std::span<const Rational> b);

}  // namespace draftproof
