// Fractions near a double: the largest multiple of 2^-60 that does not exceed it, and the first convergent of its
// continued fraction that is close enough. The latter recovers 131/81 from a solver's 1.61728395061728.
#pragma once

#include <optional>

#include <draftproof/exact/rational.hpp>

namespace draftproof {

/// The largest multiple of 2^-60 that is at most `value`.
Rational rounded_down(const Rational& value);

/// The fraction with a denominator of at most 2^16 within 1e-12 of `value`; nothing if there is none. Two such
/// fractions are at least 2^-32 apart, so it is unique. About one value in a hundred has one by coincidence.
std::optional<Rational> short_fraction(double value);

}  // namespace draftproof
