#include <draftproof/optimum/exact/rational.hpp>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <limits>
#include <locale>
#include <numeric>
#include <ostream>
#include <sstream>
#include <stdexcept>

namespace draftproof {

std::vector<Rational> normalised(std::span<const int> weights) {
  const int total = std::accumulate(weights.begin(), weights.end(), 0);
  assert(total > 0);
  std::vector<Rational> distribution;
  distribution.reserve(weights.size());
  for (const int weight : weights) distribution.emplace_back(weight, total);
  return distribution;
}

std::string to_text(const Rational& value) { return value.str(); }

namespace {

std::string in_brackets(std::span<const Rational> distribution, std::string (*one)(const Rational&)) {
  std::string text = "(";
  for (const Rational& value : distribution) text += (text.size() > 1 ? " " : "") + one(value);
  return text + ")";
}

}  // namespace

std::string to_text(std::span<const Rational> distribution) { return in_brackets(distribution, to_text); }

std::string brief(const Rational& value) {
  // The longest fraction that is easy to read: two numbers of nine digits and the slash.
  constexpr std::size_t readable = 19;
  const std::string text = to_text(value);
  if (text.size() <= readable) return text;
  std::ostringstream decimal;
  decimal.imbue(std::locale::classic());
  decimal << std::fixed << std::setprecision(9) << static_cast<double>(value) << "...";
  return decimal.str();
}

std::string brief(std::span<const Rational> distribution) { return in_brackets(distribution, brief); }

Rational total_variation(std::span<const Rational> a, std::span<const Rational> b) {
  Rational distance = 0;
  for (std::size_t x = 0; x < a.size(); ++x) distance += abs(a[x] - b[x]);
  return distance / 2;
}

namespace {

__extension__ using Product = __int128;
__extension__ using Word2 = unsigned __int128;

constexpr std::int64_t longest_word = std::numeric_limits<std::int64_t>::max();

std::int64_t divisor(std::int64_t a, std::int64_t b) { return std::gcd(a, b); }
std::int64_t divisor(const BigInteger& a, std::int64_t b) { return std::gcd(static_cast<std::int64_t>(a % b), b); }

int trailing_zeros(Word2 value) {
  const auto low = static_cast<std::uint64_t>(value);
  return low != 0 ? std::countr_zero(low) : 64 + std::countr_zero(static_cast<std::uint64_t>(value >> 64));
}

/// Returns the greatest common divisor by the binary algorithm. The arguments have two machine words, because they are
/// numerators and denominators of products of fractions that have one machine word each.
Word2 divisor_of_two_words(Word2 a, Word2 b) {
  if (a == 0 || b == 0) return a | b;
  const int common = trailing_zeros(a | b);
  a >>= trailing_zeros(a);
  while (b != 0) {
    b >>= trailing_zeros(b);
    if (a > b) std::swap(a, b);
    b -= a;
  }
  return a << common;
}

BigInteger divisor(const BigInteger& a, const BigInteger& b) {
  constexpr std::size_t two_words = sizeof(Word2) / sizeof(boost::multiprecision::limb_type);
  if (a.backend().size() > two_words || b.backend().size() > two_words) return gcd(a, b);
  return divisor_of_two_words(static_cast<Word2>(abs(a)), static_cast<Word2>(abs(b)));
}

bool in_a_word(const BigInteger& value) { return value <= longest_word && value >= -longest_word; }

// The sum and the product of a fraction of Boost's integers and a fraction in lowest terms, by the algorithms that
// Rational's operators use for machine words. Part is std::int64_t or Boost's integer.

template <bool negative = false, class Part>
void add(BigRational& a, const Part& numerator, const Part& denominator) {
  const Part g = divisor(a.denominator, denominator), left = denominator / g;
  a.denominator /= g;
  a.numerator *= left;
  if constexpr (negative)
    a.numerator -= numerator * a.denominator;
  else
    a.numerator += numerator * a.denominator;
  if (g != 1) {
    const Part h = divisor(a.numerator, g);
    a.numerator /= h;
    a.denominator *= denominator / h;
  } else {
    a.denominator *= denominator;
  }
}

template <class Part>
void multiply(BigRational& a, const Part& numerator, const Part& denominator) {
  const Part g = divisor(a.numerator, denominator), h = divisor(a.denominator, numerator);
  a.numerator /= g;
  a.numerator *= numerator / h;
  a.denominator /= h;
  a.denominator *= denominator / g;
}

}  // namespace

Rational::Rational(double value) {
  int exponent = 0;
  auto significand = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  exponent -= 53;
  for (; significand % 2 == 0 && significand != 0; ++exponent) significand /= 2;
  if (significand != 0)
    *this = Rational(exponent < 0 ? BigRational{significand, BigInteger(1) << -exponent}
                                  : BigRational{BigInteger(significand) << exponent, 1});
}

Rational::Rational(const std::string& text) {
  const boost::multiprecision::cpp_rational value(text);
  *this = Rational(BigRational{boost::multiprecision::numerator(value), boost::multiprecision::denominator(value)});
}

Rational::Rational(BigRational value) : big_{new BigRational(std::move(value))} { into_words(); }

/// The smallest int64 is stored as Boost's integer, so the negative of every value in machine words fits in machine
/// words too.
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

bool Rational::same(const BigRational& a, const BigRational& b) {
  return a.numerator == b.numerator && a.denominator == b.denominator;
}

BigRational Rational::big() const {
  if (big_) return *big_;
  return {BigInteger(numerator_), BigInteger(denominator_)};
}

template <class Number>
bool Rational::store(Number numerator, Number denominator) {
  if (numerator > longest_word || numerator < -longest_word || denominator > longest_word) return false;
  numerator_ = static_cast<std::int64_t>(numerator);
  denominator_ = static_cast<std::int64_t>(denominator);
  return true;
}

void Rational::into_words() {
  if (!in_a_word(big_->numerator) || !in_a_word(big_->denominator)) return;
  numerator_ = static_cast<std::int64_t>(big_->numerator);
  denominator_ = static_cast<std::int64_t>(big_->denominator);
  release(std::exchange(big_, nullptr));
}

template <class Operation>
Rational& Rational::beyond(const Rational& other, const Operation& operation) {
  if (this == &other) return beyond(Rational(other), operation);
  if (!big_) big_ = new BigRational(big());
  if (other.big_)
    operation(*big_, other.big_->numerator, other.big_->denominator);
  else
    operation(*big_, other.numerator_, other.denominator_);
  into_words();
  return *this;
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
  return beyond(other, [](auto& a, const auto& b, const auto& d) { add(a, b, d); });
}

Rational& Rational::operator-=(const Rational& other) {
  if (in_words(other)) {
    Rational negative;
    negative.numerator_ = -other.numerator_;
    negative.denominator_ = other.denominator_;
    return *this += negative;
  }
  return beyond(other, [](auto& a, const auto& b, const auto& d) { add<true>(a, b, d); });
}

Rational& Rational::operator*=(const Rational& other) {
  if (in_words(other)) {
    const std::int64_t g = divisor(numerator_, other.denominator_), h = divisor(other.numerator_, denominator_);
    if (store<Product>(Product{numerator_ / g} * (other.numerator_ / h),
                       Product{denominator_ / h} * (other.denominator_ / g)))
      return *this;
  }
  if (*this == 0 || other == 0) return *this = 0;
  return beyond(other, [](auto& a, const auto& b, const auto& d) { multiply(a, b, d); });
}

Rational& Rational::operator/=(const Rational& other) {
  const int sign = other.sign();
  if (sign == 0) throw std::overflow_error("a fraction with the denominator 0");
  Rational inverse;
  if (other.big_) {
    inverse.big_ = new BigRational{other.big_->denominator * sign, other.big_->numerator * sign};
  } else {
    inverse.numerator_ = other.denominator_ * sign;
    inverse.denominator_ = other.numerator_ * sign;
  }
  return *this *= inverse;
}

int Rational::sign() const {
  if (big_) return big_->numerator.sign();
  return numerator_ < 0 ? -1 : numerator_ > 0;
}

int Rational::compare(const Rational& other) const {
  if (in_words(other)) {
    const Product left = Product{numerator_} * other.denominator_, right = Product{other.numerator_} * denominator_;
    return left < right ? -1 : left > right;
  }
  if (sign() != other.sign()) return sign() - other.sign();
  const BigRational a = big(), b = other.big();
  return BigInteger(a.numerator * b.denominator).compare(BigInteger(b.numerator * a.denominator));
}

bool Rational::is_integer() const { return big_ ? big_->denominator == 1 : denominator_ == 1; }

Rational::operator double() const {
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  if (!big_ && std::abs(numerator_) <= exact && denominator_ <= exact)
    return static_cast<double>(numerator_) / static_cast<double>(denominator_);
  // Computes the quotient to 55 or 56 bits and sets the last bit if there is a remainder (a sticky bit), so that the
  // quotient rounds to the same double as the value. For denormals (doubles below 2^-1022) the quotient ends two bits
  // below the smallest positive double.
  BigRational value = big();
  const bool negative = value.numerator < 0;
  if (negative) value.numerator.backend().negate();
  const int shift = std::min(static_cast<int>(msb(value.denominator)) - static_cast<int>(msb(value.numerator)) + 55,
                             2 - std::numeric_limits<double>::min_exponent + std::numeric_limits<double>::digits);
  (shift < 0 ? value.denominator : value.numerator) <<= std::abs(shift);
  BigInteger whole, rest;
  divide_qr(value.numerator, value.denominator, whole, rest);
  const auto bits = static_cast<std::uint64_t>(whole) | static_cast<std::uint64_t>(rest != 0);
  const double result = std::ldexp(static_cast<double>(bits), -shift);
  return negative ? -result : result;
}

std::string Rational::str() const {
  if (big_) return big_->numerator.str() + (big_->denominator == 1 ? "" : "/" + big_->denominator.str());
  return std::to_string(numerator_) + (denominator_ == 1 ? "" : "/" + std::to_string(denominator_));
}

std::ostream& operator<<(std::ostream& out, const Rational& value) { return out << value.str(); }

}  // namespace draftproof
