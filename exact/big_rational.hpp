// Boost's fractions, the representation of a draftproof::Rational that does not fit in machine words.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <draftproof/exact/rational_number.hpp>

namespace draftproof {

using BigInteger = boost::multiprecision::cpp_int;

/// Expression templates are off: with them `auto` and std::max would deduce proxies.
struct BigRational {
  boost::multiprecision::number<boost::multiprecision::cpp_rational_backend, boost::multiprecision::et_off> value;

  BigInteger numerator() const { return boost::multiprecision::numerator(value); }
  BigInteger denominator() const { return boost::multiprecision::denominator(value); }
};

inline Rational quotient(const BigInteger& numerator, const BigInteger& denominator) {
  return Rational(BigRational{{numerator, denominator}});
}

}  // namespace draftproof
