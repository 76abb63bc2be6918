// The first of all 64-bit words at which a monotone condition turns true: where a sampler of one word passes from one
// token to the next.
//
// Cost: 65 calls. Exact for conditions that never turn false again; nothing else is assumed of them.
#pragma once

#include <cstdint>
#include <optional>

namespace draftproof {

/// From `low` on; nothing if the condition is false at the last word `high` too.
template <class Condition>
std::optional<std::uint64_t> first_word(const Condition& condition, std::uint64_t low = 0,
                                        std::uint64_t high = ~std::uint64_t{0}) {
  if (!condition(high)) return std::nullopt;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (condition(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace draftproof
