// Sums over the vocabulary as 64-bit integers. Integer addition is associative, so every order of summation, vector
// width, thread count and device gives the same bits, and so the same decision.
//
// Correctness: terms are scaled by 2^60 and truncated. A total below 8 cannot overflow, and the error of a sum over V
// terms is below V 2^-60 (2.3e-13 at V = 262,144); the sum never exceeds the exact sum of the terms.
#pragma once

#include <cstdint>

#include <draftproof/sim/token.hpp>

namespace draftproof {

/// A number in units of 2^-60.
using Fixed = std::int64_t;

DRAFTPROOF_DEVICE constexpr Fixed to_fixed(double value) { return static_cast<Fixed>(value * 0x1p60); }
DRAFTPROOF_DEVICE constexpr double from_fixed(Fixed value) { return static_cast<double>(value) * 0x1p-60; }

}  // namespace draftproof
