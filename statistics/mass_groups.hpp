// Tokens in contiguous groups of about equal target mass, in the order of some key: few cells, in which a deviation
// that follows the key adds up.
//
//   key    key           tokens are sorted by it, ascending, equal keys by id; no NaN
//   p      target        target probabilities
//   c      reached       sum of p up to and including a token
//   m      groups        number of groups; token x is in group min(floor((c - p(x) / 2) m), m - 1)
//
// Cost: one sort. Groups are fixed before the first trial, so folded counts are counts of cells like any others.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace draftproof {

inline constexpr int default_groups = 32;

/// Group of every token.
std::vector<std::uint32_t> mass_groups(std::span<const double> key, std::span<const double> target,
                                       int groups = default_groups);

/// p / q, infinity where q = 0: the key along which most errors of verifiers lie.
std::vector<double> ratio_key(std::span<const double> target, std::span<const double> proposal);

/// Sums of probabilities (compensated) or counts by group.
std::vector<double> folded(std::span<const std::uint32_t> group, std::span<const double> law,
                           int groups = default_groups);
std::vector<std::uint64_t> folded(std::span<const std::uint32_t> group, std::span<const std::uint64_t> counts,
                                  int groups = default_groups);

}  // namespace draftproof
