// Laws of exact fractions: from weights, as text, and their distance. The number itself: rational_number.hpp.
#pragma once

#include <draftproof/exact/rational_number.hpp>
#include <span>
#include <string>
#include <vector>

namespace draftproof {

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
