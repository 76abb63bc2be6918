// The first of all 64-bit words at which a monotone condition becomes true: the boundary between the words of two
// tokens in a sampler of one word.
//
// Cost: 65 calls.
// Correctness: exact for conditions that stay true once they are true; nothing else is assumed of them.
#pragma once

#include <cstdint>
#include <optional>

namespace draftproof {

/// The first word in low .. high for which the condition is true; nothing if it is false at `high`.
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
