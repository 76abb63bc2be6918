// Number formats of stored rows, as rounding of doubles. An engine that computes in double from float32, bf16 or fp16
// entries runs on exactly these doubles.
//
//   digits     significant bits, including the leading one
//   lowest     exponent of the smallest positive number, a denormal
//
// Cost: O(1) per entry.
//
// Correctness: a format's numbers in [2^e, 2^(e + 1)) are the multiples of 2^max(e - digits + 1, lowest). round() gives
// the nearest multiple, ties to even, without another error.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include <draftproof/captures/row.hpp>

namespace draftproof {

struct StoredFormat {
  std::string_view name;
  int digits;
  int lowest;

  /// Returns the distance between the number `value` of the format and the next greater number of the format.
  double unit(double value) const { return power_of_two(quantum_of(value)); }
  /// Returns the nearest number of the format. Requires value <= 1, so that nothing overflows.
  double round(double value) const {
    constexpr int of_double = 53;
    if (digits == of_double || !(value > 0)) return value;
    // The quantum is the distance of the format's numbers at `value`. The sum below is at least 2^52 quanta, where all
    // doubles are multiples of the quantum. So the addition rounds to the nearest multiple, and the subtraction is
    // exact.
    const double multiples = power_of_two(quantum_of(value) + of_double - 1);
    return (value + multiples) - multiples;
  }
  /// Rounds every entry.
  std::vector<double> round(std::vector<double> row) const {
    for (double& value : row) value = round(value);
    return row;
  }
  /// Rounds every row.
  RowPair round(RowPair rows) const {
    rows.target = round(std::move(rows.target));
    for (auto& proposal : rows.proposals) proposal = round(std::move(proposal));
    return rows;
  }

 private:
  static constexpr int exponent_bias = 1023, stored_bits = 52;
  /// Returns 2^exponent. Uses ldexp where the power is below the normal doubles of IEEE 754.
  static double power_of_two(int exponent) {
    if (exponent <= -exponent_bias) return std::ldexp(1.0, exponent);
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + exponent_bias) << stored_bits);
  }
  /// Returns the exponent of the distance between the format's numbers next to `value`.
  int quantum_of(double value) const {
    if (!(value > 0)) return lowest;
    const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> stored_bits) - exponent_bias;
    return std::max(exponent - digits + 1, lowest);
  }
};

/// Format float64 rounds nothing.
inline constexpr StoredFormat float64{"float64", 53, -1074};
inline constexpr StoredFormat float32{"float32", 24, -149}, bfloat16{"bf16", 8, -133}, float16{"fp16", 11, -24};
inline constexpr std::array<StoredFormat, 3> stored_formats{float32, bfloat16, float16};

}  // namespace draftproof
