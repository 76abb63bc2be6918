// The order of a ratio table as keys for a stable sort of integers, and its prefix sums.
//
//   symbol    code            meaning
//   k(r)      falling(r)      rises as r >= 0 falls; 63 bits, of which +infinity has 0
//   -         no_key          of tokens in neither row: after all others
//   (P, Q)    SumPair         two sums that are added up together
//
// Right because doubles that are not negative are in the order of their bits, and a stable sort leaves equal ratios
// in the order of their tokens: what sort_by_key does on the host (sim/numeric/radix_sort.hpp). Each row sums to exactly
// 2^62, so that one running sum over all positions is that of each of them but for 2^62 a position before it, modulo
// 2^64.
#pragma once

#include <cstdint>

#include <draftproof/gpu/tables/fixed_rows.cuh>
#include <draftproof/gpu/tables/sort_space.hpp>

namespace draftproof::gpu {

inline constexpr std::uint64_t no_key = (std::uint64_t{1} << 63) - 1;
inline constexpr int key_bits = 63;

inline constexpr std::uint64_t infinity_bits = std::uint64_t{0x7ff} << 52;

DRAFTPROOF_DEVICE inline std::uint64_t falling(double value) {
  return infinity_bits - bit_cast<std::uint64_t>(value);
}
DRAFTPROOF_DEVICE inline double of_falling(std::uint64_t key) { return bit_cast<double>(infinity_bits - key); }

/// Positions whose tokens are sorted together: token x of the i-th of them is place i V + x.
struct Turn {
  FixedRows fixed;
  std::int64_t first;
  std::uint32_t positions;

  DRAFTPROOF_DEVICE std::uint32_t vocabulary() const {
    return static_cast<std::uint32_t>(fixed.rows.batch.vocabulary);
  }
  DRAFTPROOF_DEVICE std::uint64_t places() const { return std::uint64_t{positions} * vocabulary(); }
  DRAFTPROOF_DEVICE SumPair masses(std::uint32_t place) const {
    const std::int64_t position = first + place / vocabulary();
    const auto x = static_cast<Token>(place % vocabulary());
    return {fixed.target(position).mass(x), fixed.proposal(position, 0).mass(x)};
  }
};

/// Every place and its key.
struct KeyTokens {
  Turn turn;
  std::uint64_t* keys;
  std::uint32_t* places;

  std::uint64_t work() const { return turn.places(); }
  template <Grid G>
  DRAFTPROOF_DEVICE void operator()(const G& grid) const {
    for_places(grid, turn.places(), [this](std::uint64_t i) {
      const auto place = static_cast<std::uint32_t>(i);
      const auto [p, q] = turn.masses(place);
      keys[i] = (p | q) == 0 ? no_key : falling(static_cast<double>(p) / static_cast<double>(q));
      places[i] = place;
    });
  }
};

/// The position of every place in the order that there is: what to sort by next so that positions come together.
struct KeyPositions {
  Turn turn;
  std::uint64_t* keys;
  const std::uint32_t* places;

  std::uint64_t work() const { return turn.places(); }
  template <Grid G>
  DRAFTPROOF_DEVICE void operator()(const G& grid) const {
    for_places(grid, turn.places(), [this](std::uint64_t i) { keys[i] = places[i] / turn.vocabulary(); });
  }
};

/// The masses of every place in the order that there is.
struct GatherMasses {
  Turn turn;
  const std::uint32_t* places;
  SumPair* masses;

  std::uint64_t work() const { return turn.places(); }
  template <Grid G>
  DRAFTPROOF_DEVICE void operator()(const G& grid) const {
    for_places(grid, turn.places(), [this](std::uint64_t i) { masses[i] = turn.masses(places[i]); });
  }
};

}  // namespace draftproof::gpu
