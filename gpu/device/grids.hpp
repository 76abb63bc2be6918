// The largest number of blocks in a grid, and the loop that splits positions into several grids if they need more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace draftproof::gpu {

inline constexpr int most_blocks = std::numeric_limits<std::int32_t>::max();

/// Calls launch(first, count) for successive ranges of positions. Each position takes `partitions` blocks, so a range
/// has at most most_blocks / partitions positions.
template <class Launch>
void for_positions_of_grids(int positions, int partitions, const Launch& launch) {
  const int most = most_blocks / partitions;
  for (std::int64_t first = 0; first < positions; first += most)
    launch(first, static_cast<int>(std::min<std::int64_t>(most, positions - first)));
}

}  // namespace draftproof::gpu
