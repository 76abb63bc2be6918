// Range maxima of small integers: O(1) a range after O(n log n), or by a linear scan if few ranges will be asked for.
//
//   row k     places(k) ..    maximum of the 2^k values from i on, for i = 0 .. n - 2^k; row 0 is the values
//
// Correctness: a range of any length is the union of two ranges of one power of two, which may overlap.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

/// All rows, concatenated, in memory of the host or of a device.
struct RangeSearch {
  const std::uint32_t* rows;
  std::size_t size;

  /// Index of the first entry of row k.
  DRAFTPROOF_DEVICE static std::size_t places(std::size_t k, std::size_t size) {
    return k * (size + 1) + 1 - (std::size_t{1} << k);
  }
  /// Maximum of values [first, last); first < last.
  DRAFTPROOF_DEVICE std::uint32_t of(int first, int last) const {
    const auto a = static_cast<std::size_t>(first), b = static_cast<std::size_t>(last);
#if defined(__CUDA_ARCH__)
    const auto row = static_cast<std::size_t>(31 - __clz(last - first));
#else
    const auto row = static_cast<std::size_t>(std::bit_width(b - a)) - 1;
#endif
    const std::uint32_t* const largest = rows + places(row, size);
    const std::uint32_t one = largest[a], other = largest[b - (std::size_t{1} << row)];
    return one < other ? other : one;
  }
};

class RangeMaximum {
 public:
  RangeMaximum() = default;
  /// `many_runs`: whether to make the rows for O(1) look-ups.
  RangeMaximum(std::vector<std::uint32_t> values, bool many_runs)
      : size_{values.size()}, many_{many_runs}, rows_{std::move(values)} {
    for (std::size_t width = 1; many_ && 2 * width <= size_; width *= 2) {
      const std::size_t narrow = rows_.size() - (size_ + 1 - width);
      for (std::size_t i = 0; i + 2 * width <= size_; ++i)
        rows_.push_back(std::max(rows_[narrow + i], rows_[narrow + i + width]));
    }
  }

  /// Maximum of values [first, last); first < last.
  std::uint32_t of(int first, int last) const {
    if (many_) return search().of(first, last);
    return *std::max_element(rows_.begin() + first, rows_.begin() + std::max(last, first + 1));
  }
  /// Only if made for many ranges.
  RangeSearch search() const { return {rows_.data(), size_}; }
  const std::vector<std::uint32_t>& rows() const { return rows_; }

 private:
  std::size_t size_ = 0;
  bool many_ = false;
  std::vector<std::uint32_t> rows_;
};

}  // namespace draftproof
