// Rows for tests of samplers: ties, zeros at either end, peaks, tiny entries, and random rows of any length.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof::examples {

inline std::vector<double> normalised(std::vector<double> row) {
  double sum = 0;
  for (const double weight : row) sum += weight;
  for (double& weight : row) weight /= sum;
  return row;
}

/// Returns entry i of stream `seed`, uniform in [0, 1).
inline double uniform(std::uint64_t seed, std::uint64_t i) {
  return static_cast<double>(philox_pair(seed, i, 0, 0).first >> 11) * 0x1p-53;
}

/// Returns weights u^sharpness, each zero with probability `zeros`; at least one weight is not zero.
inline std::vector<double> random_row(std::uint64_t seed, std::size_t size, double sharpness = 1, double zeros = 0) {
  std::vector<double> row(size);
  for (std::size_t x = 0; x < size; ++x)
    row[x] = uniform(seed, 2 * x) < zeros ? 0 : std::pow(1 - uniform(seed, 2 * x + 1), sharpness);
  row[static_cast<std::size_t>(seed % size)] += 0x1p-10;
  return normalised(std::move(row));
}

inline std::vector<std::vector<double>> awkward_rows() {
  return {{1.0},
          {0.5, 0.5},
          {0.0, 1.0},
          {1.0, 0.0, 0.0},
          {0.1, 0.2, 0.3, 0.4},
          normalised({1, 1, 1}),
          normalised({1, 1, 1, 1, 1, 1, 1}),
          {0.0, 0.25, 0.0, 0.75, 0.0},
          normalised({1e-18, 1, 1e-12, 0, 1e-300, 3}),
          normalised(std::vector<double>(10, 0.1)),
          random_row(1, 64),
          random_row(2, 100, 8),
          random_row(3, 257, 3, 0.7),
          random_row(4, 1000, 20, 0.3)};
}

/// Returns 64-bit numbers spread over the whole range, including both ends.
inline std::vector<std::uint64_t> some_words(std::uint64_t seed, std::size_t count) {
  std::vector<std::uint64_t> words{
      0, 1, 2047, 2048, ~std::uint64_t{0}, ~std::uint64_t{0} - 1, std::uint64_t{1} << 63};
  for (std::size_t i = 0; i < count; ++i) words.push_back(philox_pair(seed, i, 1, 1).second);
  return words;
}

}  // namespace draftproof::examples
