// The laws of textbook samplers of p: the controls of the precision study. Running sums in
// float32 and uniforms of 24 bits must fail there.
//
//   p                        a law over V tokens
//   running_float_sum(p)     law of a draw by the running sum of p in float32
//   grid_law(p, b)           law of a draw by the exact sums of p and a uniform of b bits
//
// Cost: O(V).
// Correctness: a draw takes token x when u falls between two adjacent sums. For an ideal u the probability is their
// difference; for a uniform of b bits it is the number of multiples of 2^-b between them, times 2^-b. Those sums are
// integers here: a row that sums to 2^62 (quantised_row.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include <draftproof/mutants/pick.hpp>
#include <draftproof/properties/precision/audit.hpp>
#include <draftproof/sim/sampling/quantised_row.hpp>

namespace draftproof {

inline std::vector<double> running_float_sum(const std::vector<double>& row) {
  const auto plan = mutants::FloatRunningSum{}.prepare(Rows<double>(row, row), 1);
  std::vector<double> law(row.size());
  mutants::FloatRunningSum::Differences<float>(plan.sums).for_each(
      [&law](Token x, double weight) { law[static_cast<std::size_t>(x)] = weight; });
  return exact_target(law);
}

/// 1 <= bits <= 53.
inline std::vector<double> grid_law(const std::vector<double>& row, int bits) {
  const std::uint64_t step = row_total >> bits;
  std::vector<double> law;
  law.reserve(row.size());
  std::uint64_t sum = 0, points = 0;  // multiples of the step below the sum, including 0
  for (const std::uint64_t mass : quantise(row)) {
    const std::uint64_t before = points;
    sum += mass;
    points = (sum + step - 1) / step;
    law.push_back(static_cast<double>(points - before) * static_cast<double>(step) * 0x1p-62);
  }
  return law;
}

}  // namespace draftproof
