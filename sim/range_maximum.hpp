// The largest of any run of small integers: in O(1) after O(n log n), or by looking at each of them where few runs
// will be asked for.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace draftproof {

class RangeMaximum {
 public:
  RangeMaximum() = default;
  RangeMaximum(std::vector<std::uint32_t> values, bool many_runs) {
    levels_.push_back(std::move(values));
    if (!many_runs) return;
    for (std::size_t width = 1; 2 * width <= levels_[0].size(); width *= 2) {
      const auto& narrow = levels_.back();
      std::vector<std::uint32_t> wide(levels_[0].size() - 2 * width + 1);
      for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = std::max(narrow[i], narrow[i + width]);
      levels_.push_back(std::move(wide));
    }
  }

  /// Of values [first, last); first < last.
  std::uint32_t of(int first, int last) const {
    const auto a = static_cast<std::size_t>(first), b = static_cast<std::size_t>(last);
    if (levels_.size() == 1)
      return *std::max_element(levels_[0].begin() + first, levels_[0].begin() + std::max(last, first + 1));
    const auto level = static_cast<std::size_t>(std::bit_width(b - a)) - 1;
    return std::max(levels_[level][a], levels_[level][b - (std::size_t{1} << level)]);
  }

 private:
  std::vector<std::vector<std::uint32_t>> levels_;
};

}  // namespace draftproof
