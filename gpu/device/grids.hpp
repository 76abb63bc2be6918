// How many blocks a grid may have, and how more positions than that are cut.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace draftproof::gpu {

inline constexpr int most_blocks = std::numeric_limits<std::int32_t>::max();

/// Calls launch(first, count) until all positions of `shares` blocks each have been in a grid.
template <class Launch>
void for_positions_of_grids(int positions, int shares, const Launch& launch) {
  const int most = most_blocks / shares;
  for (std::int64_t first = 0; first < positions; first += most)
    launch(first, static_cast<int>(std::min<std::int64_t>(most, positions - first)));
}

}  // namespace draftproof::gpu
