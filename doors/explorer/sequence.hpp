// A sequence of random numbers without end: listed values, then values that a seed and the place give.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace draftproof::doors {

struct Sequence {
  enum class Lean { none, low, high };

  std::uint64_t seed = 0;
  int bits = 24;           ///< values beyond the listed ones are multiples of 2^-bits
  Lean lean = Lean::none;  ///< values beyond the listed ones lie near 0 or near 1, at places below `leaning`
  std::vector<double> values{};

  static constexpr std::size_t leaning = 48;  ///< a program that draws until a number is small must end

  /// A word that depends on (seed, place) alone.
  std::uint64_t word(std::size_t place) const {
    std::uint64_t x = (seed + 1) * 0xA24BAED4963EE407u + (place + 1) * 0x9FB21C651E98DF25u;
    for (int round = 0; round < 3; ++round) x = (x ^ (x >> 31)) * 0xD6E8FEB86659FD93u;
    return x ^ (x >> 32);
  }
  /// The value at a place, in [0, 1).
  double value(std::size_t place) const {
    if (place < values.size()) return values[place];
    const std::uint64_t k = word(place) >> (64 - bits), near = k >> (bits < 6 ? bits : 6);
    if (lean == Lean::none || place >= leaning) return std::ldexp(static_cast<double>(k), -bits);
    const std::uint64_t last = (std::uint64_t{1} << bits) - 1;
    return std::ldexp(static_cast<double>(lean == Lean::low ? near : last - near), -bits);
  }
};

}  // namespace draftproof::doors
