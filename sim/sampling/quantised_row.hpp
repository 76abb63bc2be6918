// A probability row as integers that sum to exactly 2^62: the law that a prepared table realises. Alias cells,
// cumulative sums and masses of token sets built from it are exact.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <draftproof/sim/token.hpp>

namespace draftproof {

inline constexpr std::uint64_t row_total = std::uint64_t{1} << 62;

/// Rounds a row that sums to 1 in double precision; returns V masses in units of 2^-62. Each entry is truncated to a
/// multiple of 2^-62 and the most probable token (ties: lowest id) gets the missing mass. The total variation from
/// `row` is at most V 2^-62 + |1 - sum|. A probability of zero stays zero; entries below 2^-62 become zero.
std::vector<std::uint64_t> quantise(std::span<const double> row);

/// A mass in units of 2^-62 as a double.
DRAFTPROOF_DEVICE constexpr double probability(std::uint64_t mass) { return static_cast<double>(mass) * 0x1p-62; }

/// An entry in [0, 4), truncated to units of 2^-62.
DRAFTPROOF_DEVICE constexpr std::uint64_t truncated_mass(double entry) {
  return static_cast<std::uint64_t>(entry * 0x1p62);
}

inline std::vector<std::uint64_t> quantise(std::span<const double> row) {
  std::vector<std::uint64_t> mass(row.size());
  std::uint64_t sum = 0;
  std::size_t heaviest = 0;
  for (std::size_t x = 0; x < row.size(); ++x) {
    mass[x] = truncated_mass(row[x]);
    sum += mass[x];
    if (row[x] > row[heaviest]) heaviest = x;
  }
  mass[heaviest] += row_total - sum;  // modulo 2^64: also takes back an excess when the doubles sum above 1
  return mass;
}

}  // namespace draftproof
