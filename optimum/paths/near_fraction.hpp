// Fractions near a double: the next multiple of a power of two below it, and the first convergent of its continued
// fraction that is close enough, which gives back 131/81 where a solver says 1.61728395061728.
#pragma once

#include <optional>

#include <draftproof/exact/rational.hpp>

namespace draftproof {

/// The largest multiple of 2^-60 that is at most `value`.
Rational rounded_down(const Rational& value);

/// The fraction with a denominator of at most 2^16 within 1e-12 of `value`; nothing if there is none. Two such
/// fractions are at least 2^-32 apart, so there is no choice; one value in some hundred has one by accident.
std::optional<Rational> short_fraction(double value);

}  // namespace draftproof
