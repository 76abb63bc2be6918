// Fractions near a double: the next multiple of a power of two below it, and the first convergent of its continued
// fraction that is close enough, which gives back 131/81 where a solver says 1.61728395061728.
#pragma once

#include <optional>

#include <draftproof/optimum/rational.hpp>

namespace draftproof {

/// The largest multiple of 2^-60 that is at most `value`.
Rational rounded_down(const Rational& value);

/// A fraction with a denominator of at most 2^20 within 1e-10 of `value`; nothing if there is none. Two such
/// fractions may be as close as 1e-12, so it is a guess, for whoever checks what follows from it.
std::optional<Rational> short_fraction(double value);

}  // namespace draftproof
