// Laws of exact fractions: construction from weights, text, and distance. The number type: rational_number.hpp.
#pragma once

#include <draftproof/exact/rational_number.hpp>
#include <span>
#include <string>
#include <vector>

namespace draftproof {

/// Integer weights as probabilities. Requires non-negative weights, at least one of them positive.
std::vector<Rational> normalised(std::span<const int> weights);

/// "3/4", or "1" for an integer.
std::string to_text(const Rational& value);

/// "(1/4 3/4)".
std::string to_text(std::span<const Rational> law);

/// As to_text, but fractions too long to read appear as decimals: "0.123456789...".
std::string brief(const Rational& value);
std::string brief(std::span<const Rational> law);

/// Half the L1 distance of two laws of equal size.
Rational total_variation(std::span<const Rational> a, std::span<const Rational> b);

}  // namespace draftproof
