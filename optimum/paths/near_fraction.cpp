#include <draftproof/optimum/paths/near_fraction.hpp>

#include <cmath>
#include <cstdint>
#include <draftproof/exact/big_rational.hpp>

namespace draftproof {

Rational rounded_down(const Rational& value) {
  const BigRational big = value.big();
  BigInteger scaled = big.numerator << 60, whole, remainder;
  boost::multiprecision::divide_qr(scaled, big.denominator, whole, remainder);
  if (remainder < 0) --whole;
  return quotient(whole, BigInteger(1) << 60);
}

std::optional<Rational> short_fraction(double value) {
  constexpr std::int64_t longest = std::int64_t{1} << 16;
  if (!(std::abs(value) < 1024)) return std::nullopt;
  std::int64_t before = 1, numerator = static_cast<std::int64_t>(std::floor(value));
  std::int64_t denominator_before = 0, denominator = 1;
  double rest = value - std::floor(value);
  while (std::abs(static_cast<double>(numerator) / static_cast<double>(denominator) - value) > 1e-12) {
    rest = 1 / rest;
    if (!(rest <= longest)) return std::nullopt;
    const auto whole = static_cast<std::int64_t>(std::floor(rest));
    rest -= std::floor(rest);
    const std::int64_t next = whole * denominator + denominator_before;
    if (next > longest) return std::nullopt;
    denominator_before = denominator;
    denominator = next;
    const std::int64_t numerator_next = whole * numerator + before;
    before = numerator;
    numerator = numerator_next;
  }
  return Rational(numerator, denominator);
}

}  // namespace draftproof
