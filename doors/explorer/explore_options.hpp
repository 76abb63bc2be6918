// Limits and choices of an exploration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace draftproof::doors {

struct ExploreOptions {
  int coin_bits = 24;  ///< of the program's uniforms; the tape has multiples of 2^-min(24, coin_bits) and grid values
  int dtype_bits = 24;             ///< significand of the numbers that the program computes in, for ProgramLaw::limit
  int predictions = 256;           ///< that hold in a row
  int even_points = 8;             ///< parts of a grid whose ends are asked in any case
  int most_witnesses = 64;         ///< of an input
  std::size_t most_calls = 20000;  ///< for an input's tree; predictions may take 4 * predictions more
  std::size_t most_branches = 4096;  ///< of one draw
  int most_places = 512;             ///< of a tape; branches that draw more are unexplored
  double least_mass = 0x1p-60;       ///< branches below it are unexplored
  int repeat_every = 16;             ///< one call of so many is run a second time, in another order; 0: none
  bool keep_stretches = false;       ///< report all stretches of coins, not only the edges
  std::uint64_t seed = 1;            ///< of witnesses and predictions
  std::vector<double> thresholds{};  ///< more thresholds to ask at, beside those of suggested_points.hpp
};

}  // namespace draftproof::doors
