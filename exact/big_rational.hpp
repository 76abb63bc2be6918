// Fractions of Boost's integers, the representation of a draftproof::Rational that does not fit in machine words.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <draftproof/exact/rational_number.hpp>

namespace draftproof {

using BigInteger = boost::multiprecision::cpp_int;

/// A fraction in lowest terms with a positive denominator.
struct BigRational {
  BigInteger numerator, denominator = 1;
};

/// numerator / denominator in lowest terms. Requires a positive denominator.
inline Rational quotient(BigInteger numerator, BigInteger denominator) {
  if (const BigInteger common = gcd(numerator, denominator); common != 1) {
    numerator /= common;
    denominator /= common;
  }
  return Rational(BigRational{std::move(numerator), std::move(denominator)});
}

}  // namespace draftproof
