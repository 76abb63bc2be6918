// The median of a few repetitions and their range: the form of every figure of a benchmark.
//
//   n       repetitions, at least one
//   median  the middle one; of an even number the mean of the middle two
//   low, high  the least and the greatest
//
// Cost: a sort of n numbers. A median is used because a shared machine delays single repetitions by large factors.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <vector>

namespace draftproof::benchmarks {

struct Spread {
  double low = 0, median = 0, high = 0;

  /// Half the range over the median: 0.03 reads "within 3 % either way".
  double relative() const { return median > 0 ? (high - low) / (2 * median) : 0; }
};

/// Spread of at least one value.
inline Spread spread_of(std::vector<double> values) {
  assert(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {values.front(), median, values.back()};
}

}  // namespace draftproof::benchmarks
