// Number formats of stored rows, as rounding of doubles. An engine that computes in double from float32, bf16 or fp16
// entries runs on exactly these doubles.
//
//   digits     significant bits, including the leading one
//   lowest     exponent of the smallest positive number, a denormal
//
// Cost: O(1) an entry.
//
// Correctness: a format's numbers are the multiples of 2^max(e - digits + 1, lowest) below 2^(e + 1), and a scaled
// double rounds to the nearest multiple, ties to even, without another error.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include <draftproof/captures/row.hpp>

namespace draftproof {

struct StoredFormat {
  std::string_view name;
  int digits;
  int lowest;

  /// The distance from a number of the format to the next one above it.
  double unit(double value) const {
    return std::ldexp(1.0, value > 0 ? std::max(std::ilogb(value) - digits + 1, lowest) : lowest);
  }
  /// The nearest number of the format. Requires value <= 1, so that nothing overflows.
  double round(double value) const {
    if (!(value > 0)) return value;
    const int quantum = std::max(std::ilogb(value) - digits + 1, lowest);
    return std::ldexp(std::nearbyint(std::ldexp(value, -quantum)), quantum);
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
};

/// Format float64 rounds nothing.
inline constexpr StoredFormat float64{"float64", 53, -1074};
inline constexpr StoredFormat float32{"float32", 24, -149}, bfloat16{"bf16", 8, -133}, float16{"fp16", 11, -24};
inline constexpr std::array<StoredFormat, 3> stored_formats{float32, bfloat16, float16};

}  // namespace draftproof
