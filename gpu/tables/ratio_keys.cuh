// Integer keys whose stable sort gives the order of a ratio table, and the prefix sums in this order.
//
//   symbol    code            meaning
//   k(r)      falling(r)      rises as r >= 0 falls; 63 bits; +infinity has 0
//   -         no_key          key of tokens with p = q = 0; it sorts after all others
//   (P, Q)    SumPair         two sums that are formed together
//
// Correctness: non-negative doubles compare as their bits do, and a stable sort leaves equal ratios in the order of
// their tokens, as sort_by_key does on the host (sim/numeric/ratio_buckets.hpp). Each row sums to exactly 2^62, so
// the running sum over all positions minus 2^62 per earlier position is the running sum of one position, modulo 2^64.
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

/// Positions first .. first + positions - 1, whose tokens are sorted together. Entry i V + x is token x of position
/// first + i.
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
  /// The ratio p / q from which the key of an entry is made.
  DRAFTPROOF_DEVICE double ratio(std::uint32_t place) const {
    const std::int64_t position = first + place / vocabulary();
    const auto x = static_cast<Token>(place % vocabulary());
    return static_cast<double>(fixed.target(position).read(x)) /
           static_cast<double>(fixed.proposal(position, 0).read(x));
  }
};

/// Writes every entry and its key.
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
      keys[i] = (p | q) == 0 ? no_key : falling(turn.ratio(place));
      places[i] = place;
    });
  }
};

/// Writes the position of every entry in the current order: the keys of the next sort, which groups by position.
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

/// Writes the masses of every entry in the current order.
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
