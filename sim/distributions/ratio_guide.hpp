// A guide over descending ratios: narrows the search for the number of ratios above b to a few entries before it
// bisects.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <draftproof/sim/sampling/guide_table.hpp>

namespace draftproof {

/// Cells are equal steps of b / (1 + b), which maps the ratios 0 .. infinity onto 0 .. 1.
class RatioGuide {
 public:
  RatioGuide() = default;
  explicit RatioGuide(std::span<const double> descending)
      : cells_{std::bit_ceil(descending.size() + 1)}, start_(cells_ + 1) {
    // start_[c] is the number of ratios in cells above c, so prefix_length(b) is in [start_[c], start_[c - 1]].
    std::size_t j = 0;
    for (std::size_t cell = cells_ + 1; cell-- > 0;) {
      while (j < descending.size() && cell_of(descending[j]) > cell) ++j;
      start_[cell] = static_cast<std::uint32_t>(j);
    }
  }

  /// Number of entries of `descending` greater than b; b >= 0. `descending` is the array of the constructor.
  std::size_t prefix_length(std::span<const double> descending, double b) const {
    return search(descending).prefix_length(b);
  }

  /// The arrays of the guide and of the ratios, for code that searches them by address.
  RatioSearch search(std::span<const double> descending) const {
    return {descending.data(), descending.size(), start_.data(), cells_};
  }

 private:
  std::size_t cell_of(double b) const { return RatioSearch::cell_of(b, cells_); }

  std::size_t cells_ = 1;
  std::vector<std::uint32_t> start_{0, 0};
};

}  // namespace draftproof
