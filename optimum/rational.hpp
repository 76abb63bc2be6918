// Exact fractions, for proofs. Expression templates are off: with them `auto` and std::max deduce proxies.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <span>
#include <string>
#include <vector>

namespace draftproof {

using Rational =
    boost::multiprecision::number<boost::multiprecision::cpp_rational_backend, boost::multiprecision::et_off>;

/// Integer weights as probabilities. At least one weight is positive, none negative.
std::vector<Rational> normalised(std::span<const int> weights);

/// "3/4", or "1" for an integer.
std::string to_text(const Rational& value);

/// "(1/4 3/4)".
std::string to_text(std::span<const Rational> law);

/// The same, fractions too long to be read as decimals: "0.123456789...".
std::string brief(const Rational& value);
std::string brief(std::span<const Rational> law);

/// Half the L1 distance.
Rational total_variation(std::span<const Rational> a, std::span<const Rational> b);

}  // namespace draftproof
