// The lower bound of the time of computing optima: one least-significant-digit radix sort of (key, index) pairs. It is
// separate from the library's sort, so that a change there does not change the lower bound.
//
//   pair     float key in the upper 32 bits, index in the lower
//   passes   three, of 11 bits each, which cover a float without its sign
//
// Cost: four reads and three scattered writes of 8 n bytes.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace draftproof::benchmarks {

/// Sorts by key ascending; `spare` is as long as `pairs`.
inline void radix_lower_bound(std::vector<std::uint64_t>& pairs, std::vector<std::uint64_t>& spare) {
  std::array<std::array<std::uint32_t, 2048>, 3> place{};
  for (const std::uint64_t pair : pairs)
    for (unsigned pass = 0; pass < 3; ++pass) ++place[pass][pair >> (32 + 11 * pass) & 2047];
  for (unsigned pass = 0; pass < 3; ++pass) {
    std::uint32_t below = 0;
    for (std::uint32_t& count : place[pass]) below += std::exchange(count, below);
    for (const std::uint64_t pair : pairs) spare[place[pass][pair >> (32 + 11 * pass) & 2047]++] = pair;
    pairs.swap(spare);
  }
}

}  // namespace draftproof::benchmarks
