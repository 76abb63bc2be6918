// Sorts tokens by descending key, and tokens with equal keys by token, in linear time: a radix sort by the key rounded
// to float, then a sort by the key within each run of equal floats.
//
//   bits     ~float(key)      32 bits that rise as the key falls; the sign bit is the same for all keys >= 0
//   packed   bits, index      one 64-bit integer for each entry; the sort is stable: indices of equal bits ascend
//
// Cost: three passes of 11 bits over 64-bit integers. Runs of equal floats are short unless ratios agree to seven
// digits; a run of n costs n log n.
// Correctness: rounding to float is monotone, so the first sort never puts a smaller key before a greater key.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include <draftproof/sim/token.hpp>

namespace draftproof {

/// A token with its key, which is >= 0 or +infinity, never NaN.
struct KeyedToken {
  double key;
  Token token;
};

namespace detail {

/// Sorts integers by their bits 32 .. 62, ascending and stable.
inline void radix_sort(std::vector<std::uint64_t>& words) {
  constexpr int digit_bits = 11, passes = 3, lowest = 32;
  constexpr std::uint64_t digits = std::uint64_t{1} << digit_bits;
  std::vector<std::uint64_t> other(words.size());
  std::array<std::array<std::uint32_t, digits>, passes> start{};
  const auto digit = [](std::uint64_t word, int pass) {
    return static_cast<std::size_t>(word >> (lowest + pass * digit_bits) & (digits - 1));
  };
  for (const std::uint64_t word : words)
    for (int pass = 0; pass < passes; ++pass) ++start[static_cast<std::size_t>(pass)][digit(word, pass)];
  for (int pass = 0; pass < passes; ++pass) {
    auto& place = start[static_cast<std::size_t>(pass)];
    std::uint32_t sum = 0;
    for (std::uint32_t& count : place) sum += std::exchange(count, sum);
    for (const std::uint64_t word : words) other[place[digit(word, pass)]++] = word;
    words.swap(other);
  }
}

}  // namespace detail

/// Sorts `keyed` by key descending, equal keys by token. Requires that the tokens of `keyed` ascend.
inline void sort_by_key(std::vector<KeyedToken>& keyed) {
  std::vector<std::uint64_t> words(keyed.size());
  for (std::size_t i = 0; i < keyed.size(); ++i)
    words[i] = static_cast<std::uint64_t>(~std::bit_cast<std::uint32_t>(static_cast<float>(keyed[i].key))) << 32 | i;
  detail::radix_sort(words);
  std::vector<KeyedToken> sorted(keyed.size());
  for (std::size_t i = 0; i < words.size(); ++i) sorted[i] = keyed[static_cast<std::uint32_t>(words[i])];
  const auto before = [](const KeyedToken& a, const KeyedToken& b) {
    return a.key > b.key || (a.key == b.key && a.token < b.token);
  };
  for (std::size_t first = 0, last; first < words.size(); first = last) {
    for (last = first + 1; last < words.size() && words[last] >> 32 == words[first] >> 32;) ++last;
    const auto begin = sorted.begin() + static_cast<std::ptrdiff_t>(first),
               end = sorted.begin() + static_cast<std::ptrdiff_t>(last);
    if (!std::is_sorted(begin, end, before)) std::sort(begin, end, before);
  }
  keyed.swap(sorted);
}

}  // namespace draftproof
