// Buckets of p / q: equal steps of the ratio's representation as a float, so that a bucket is found by a shift.
//
//   r        float(p / q)         rounded to float for all formats of rows: only its top bits matter
//   step     2^-fine_bits         of an octave, linear within it: a bucket is at most 1/64 of its ratio wide
//   of       bucket(p, q)         0 .. count - 1, rising with the ratio; the outer ones are open; q > 0
//   outside  count                where passes count tokens with q = 0
//
// Correctness: every step is monotone in the ratio. For rows of floats a division in float and one in double that is
// rounded to float give the same r: a quotient of two 24-bit numbers that is no midpoint of two floats differs from
// it by more than 2^-50 of itself, and a double rounding that changed the float would have to cross a midpoint.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <draftproof/sim/device/host_device.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

// Tokens with a key each, sorted by descending key in linear time: a radix sort on the key as a float, then each run
// of equal floats by the key. The order is that of the doubles, ties by token.
//
//   bits     ~float(key)      32 bits that rise as the key falls; the sign bit is the same for all keys >= 0
//   packed   bits, place      one 64-bit word an entry; stable, so places of equal bits stay ascending
//
// Cost: three passes of 11 bits over 8-byte words. Runs of equal floats are short unless ratios agree to seven
// digits; a run of n costs n log n.
// Correctness: rounding to float is monotone, so it never puts a smaller key first.

/// A token with its key, which is >= 0 or +infinity, never NaN.
struct KeyedToken {
  double key;
  Token token;
};

namespace detail {

/// Sorts by bits 32 .. 62, ascending and stable.
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

/// Sorts by key descending, equal keys by token. `keyed` must have its tokens ascending.
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

struct RatioBuckets {
  static constexpr int fine_bits = 6, octaves = 8;
  static constexpr int count = 2 * octaves << fine_bits;
  static constexpr std::size_t outside = count;
  static constexpr int shift = 23 - fine_bits;
  static constexpr std::uint32_t lowest_bits = (127 - octaves) << 23, end_bits = (127 + octaves) << 23;

  /// The bucket of a ratio >= 0.
  DRAFTPROOF_DEVICE static constexpr std::size_t of(float ratio) {
    const auto bits = bit_cast<std::int32_t>(ratio);  // ratio >= 0
    const int step = (bits >> shift) - static_cast<int>(lowest_bits >> shift);
    return static_cast<std::size_t>(step < 0 ? 0 : step < count ? step : count - 1);
  }
  /// begin <= p / q < end for all tokens of a bucket, up to half a float's last bit at `begin`. Bucket 0 begins at 0;
  /// the last bucket is open, and `end` is the bound that it would have otherwise.
  DRAFTPROOF_DEVICE static constexpr double begin(int bucket) {
    return bucket == 0 ? 0 : double{bit_cast<float>(lowest_bits + (static_cast<std::uint32_t>(bucket) << shift))};
  }
  DRAFTPROOF_DEVICE static constexpr double end(int bucket) { return begin(bucket + 1); }
  /// The bucket of target / proposal; proposal > 0.
  DRAFTPROOF_DEVICE static constexpr std::size_t of(double target, double proposal) {
    return of(static_cast<float>(target / proposal));
  }
};

}  // namespace draftproof
