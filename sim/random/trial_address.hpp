// Where the trials of a position lie among the trials of a seed: no two positions share one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace draftproof {

/// Address of trial 0 of a position; a position has 2^40 trials, a seed 2^24 positions.
constexpr std::uint64_t first_trial(std::size_t position) { return std::uint64_t{position} << 40; }

}  // namespace draftproof
