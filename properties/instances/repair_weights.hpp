// The repair of degenerate rows: families may give rows of zeros, or supports that are too small.
#pragma once

#include <algorithm>
#include <vector>

#include <draftproof/properties/instances/generator.hpp>

namespace draftproof {

/// A row of zeros gets a 1; further tokens get 1s until the support is `support`, or the whole row.
inline void repair_weights(std::vector<int>& row, int support, InstanceRng& dice) {
  const auto alive = [&row] { return std::count_if(row.begin(), row.end(), [](int w) { return w > 0; }); };
  const int wanted = std::clamp(support, 1, static_cast<int>(row.size()));
  while (alive() < wanted) {
    auto x = static_cast<std::size_t>(dice.between(0, static_cast<int>(row.size()) - 1));
    while (row[x] > 0) x = (x + 1) % row.size();
    row[x] = 1;
  }
}

}  // namespace draftproof
