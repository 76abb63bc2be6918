// Contiguous groups of tokens of about equal target mass, in the order of a key. A deviation that follows the key
// adds up in a few cells.
//
//   key    key           tokens are sorted by it, ascending, equal keys by id; no NaN
//   p      target        target probabilities
//   c      reached       sum of p up to and including a token
//   m      groups        number of groups; token x is in group min(floor((c - p(x) / 2) m), m - 1)
//
// Cost: one sort.
//
// Correctness: groups are fixed before the first trial, so folded counts are counts of ordinary cells.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace draftproof {

inline constexpr int default_groups = 32;

/// The group of every token, in [0, groups).
std::vector<std::uint32_t> mass_groups(std::span<const double> key, std::span<const double> target,
                                       int groups = default_groups);

/// p / q for each token, infinity where q = 0. Most verifier errors follow this key.
std::vector<double> ratio_key(std::span<const double> target, std::span<const double> proposal);

/// Sums by group of probabilities (compensated).
std::vector<double> folded(std::span<const std::uint32_t> group, std::span<const double> law,
                           int groups = default_groups);
/// Sums by group of counts.
std::vector<std::uint64_t> folded(std::span<const std::uint32_t> group, std::span<const std::uint64_t> counts,
                                  int groups = default_groups);

}  // namespace draftproof
