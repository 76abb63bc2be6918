#include <cstdlib>
#include <draftproof/exact/big_rational.hpp>
#include <limits>
#include <numeric>
#include <ostream>
#include <stdexcept>

namespace draftproof {
namespace {

__extension__ using Product = __int128;

constexpr std::int64_t longest_word = std::numeric_limits<std::int64_t>::max();

/// Greatest common divisor of |a| and b > 0, both at most 2^63 - 1.
std::int64_t divisor(std::int64_t a, std::int64_t b) { return std::gcd(a, b); }

}  // namespace

Rational::Rational(double value) : Rational(BigRational{decltype(BigRational::value)(value)}) {}

Rational::Rational(const std::string& text) : Rational(BigRational{decltype(BigRational::value)(text)}) {}

Rational::Rational(BigRational value) {
  const BigInteger numerator = value.numerator(), denominator = value.denominator();
  if (abs(numerator) <= longest_word && denominator <= longest_word) {
    numerator_ = static_cast<std::int64_t>(numerator);
    denominator_ = static_cast<std::int64_t>(denominator);
  } else {
    big_ = new BigRational(std::move(value));
  }
}

/// The smallest int64 is left to Boost, so every value in words has a negative in words.
Rational Rational::from_signed(std::int64_t value) {
  Rational result;
  if (!result.store(value, std::int64_t{1})) return quotient(value, 1);
  return result;
}

Rational Rational::from_unsigned(std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(longest_word)) return quotient(value, 1);
  return from_signed(static_cast<std::int64_t>(value));
}

BigRational* Rational::copy(const BigRational& value) { return new BigRational(value); }

void Rational::release(BigRational* value) { delete value; }

BigRational Rational::big() const {
  if (big_) return *big_;
  return {{BigInteger(numerator_), BigInteger(denominator_)}};
}

template <class Number>
bool Rational::store(Number numerator, Number denominator) {
  if (numerator > longest_word || numerator < -longest_word || denominator > longest_word) return false;
  numerator_ = static_cast<std::int64_t>(numerator);
  denominator_ = static_cast<std::int64_t>(denominator);
  return true;
}

template <class Operation>
Rational& Rational::beyond(const Rational& other, const Operation& operation) {
  BigRational result = big();
  operation(result.value, other.big().value);
  return *this = Rational(std::move(result));
}

Rational& Rational::operator+=(const Rational& other) {
  if (in_words(other)) {
    // a/b + c/d with g = gcd(b, d): only divisors of g are left to cancel (Knuth, The Art of Computer Programming,
    // volume 2, section 4.5.1). Both products are below 2^126, so their sum fits.
    const std::int64_t g = divisor(denominator_, other.denominator_), rest = denominator_ / g;
    const Product sum = Product{numerator_} * (other.denominator_ / g) + Product{other.numerator_} * rest;
    const std::int64_t h = divisor(static_cast<std::int64_t>(sum % g), g);
    if (store<Product>(sum / h, Product{rest} * (other.denominator_ / h))) return *this;
  }
  return beyond(other, [](auto& a, const auto& b) { a += b; });
}

Rational& Rational::operator-=(const Rational& other) {
  if (in_words(other)) {
    Rational negative;
    negative.numerator_ = -other.numerator_;
    negative.denominator_ = other.denominator_;
    return *this += negative;
  }
  return beyond(other, [](auto& a, const auto& b) { a -= b; });
}

Rational& Rational::operator*=(const Rational& other) {
  if (in_words(other)) {
    const std::int64_t g = divisor(numerator_, other.denominator_), h = divisor(other.numerator_, denominator_);
    if (store<Product>(Product{numerator_ / g} * (other.numerator_ / h),
                       Product{denominator_ / h} * (other.denominator_ / g)))
      return *this;
  }
  return beyond(other, [](auto& a, const auto& b) { a *= b; });
}

Rational& Rational::operator/=(const Rational& other) {
  if (other == 0) throw std::overflow_error("a fraction with the denominator 0");
  if (!other.big_) {
    Rational inverse;
    inverse.numerator_ = other.numerator_ < 0 ? -other.denominator_ : other.denominator_;
    inverse.denominator_ = std::abs(other.numerator_);
    return *this *= inverse;
  }
  return beyond(other, [](auto& a, const auto& b) { a /= b; });
}

int Rational::compare(const Rational& other) const {
  if (in_words(other)) {
    const Product left = Product{numerator_} * other.denominator_, right = Product{other.numerator_} * denominator_;
    return left < right ? -1 : left > right;
  }
  return big().value.compare(other.big().value);
}

bool Rational::is_integer() const { return big_ ? big_->denominator() == 1 : denominator_ == 1; }

Rational::operator double() const {
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  if (!big_ && std::abs(numerator_) <= exact && denominator_ <= exact)
    return static_cast<double>(numerator_) / static_cast<double>(denominator_);
  return static_cast<double>(big().value);
}

std::string Rational::str() const {
  if (big_) return big_->value.str();
  return std::to_string(numerator_) + (denominator_ == 1 ? "" : "/" + std::to_string(denominator_));
}

std::ostream& operator<<(std::ostream& out, const Rational& value) { return out << value.str(); }

}  // namespace draftproof
