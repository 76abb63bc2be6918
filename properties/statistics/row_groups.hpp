// Groups of tokens that do not depend on the draws. The counts of a gate use groups of about equal target mass in the
// order of a key (mass_groups). The rows of a recording use fixed groups along p / q, p, q and the token id; each fixed
// group has its probability and a bound of the error that rounding in a file causes.
//
//   t       (p - q) / (p + q)   68 groups along p / q: |t| in quarters of octaves from 2^-8 to 1, on both sides of 0
//   depth   -log2 p             64 groups, half an octave each; the last has all p below 2^-31
//   id      token id            32 groups of equal width
//   h_x     rounding            before normalising, the stored p(x) is the true p(x) times e^d with |d| <= h_x
//   slack   sum of p_x (e^h_x - 1) over a group
//
// Correctness: with Z = E_stored[e^-d] and any function f of groups, of stored mean m,
//   E_true f - m = E_stored[(e^-d - 1)(f - m)] / Z     since the stored mean of f - m is 0
//               <= sum over groups of |f - m| slack / (1 - total slack)
// because |e^-d - 1| <= e^h - 1 and Z >= 1 - total slack. Bets divide by the upper bound of E f (group_bets.hpp).
//
// h_x by storage: a logarithm v is off by half a unit in its last place, 2^(floor(log2 |v|) - s) with s
// significant bits (11 or 24), and |v| <= |ln p_x| + |log of the row's sum|; a probability by a relative 2^-24.
// Both are increased by 2^-22 + 2^-24 |ln p_x| for the single precision of e^v here. The slack of a depth group
// uses its smallest p.
//
// Cost: one pass over both rows, 3 ns per token.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

// Contiguous groups of tokens of about equal target mass, in the order of a key. A deviation along the key adds
// up in a few cells.
//
//   key    key           tokens are sorted by it, ascending, equal keys by id; no NaN
//   p      target        target probabilities
//   c      reached       sum of p up to and including a token
//   m      groups        number of groups; token x is in group min(floor((c - p(x) / 2) m), m - 1)
//
// Cost: one sort.
//
// Correctness: groups are fixed before the first trial, so counts summed by group are counts of ordinary cells.

inline constexpr int default_groups = 32;

/// Returns the group of every token, in [0, groups).
std::vector<std::uint32_t> mass_groups(std::span<const double> key, std::span<const double> target,
                                       int groups = default_groups);

/// Returns p / q for each token, infinity where q = 0: a key for mass_groups(). In most wrong verifiers the error at a
/// token depends on this ratio.
std::vector<double> ratio_key(std::span<const double> target, std::span<const double> proposal);

/// Returns the probabilities summed by group, with compensated summation.
std::vector<double> folded(std::span<const std::uint32_t> group, std::span<const double> distribution,
                           int groups = default_groups);
/// Returns the counts summed by group.
std::vector<std::uint64_t> folded(std::span<const std::uint32_t> group, std::span<const std::uint64_t> counts,
                                  int groups = default_groups);

inline constexpr int ratio_groups = 68, depth_groups = 64, id_groups = 32;

/// Returns the group along p / q, in ascending order of p / q. The 34 groups from number 34 on have p >= q.
inline int ratio_group(float p, float q) {
  const float sum = p + q, t = sum > 0 ? (p - q) / sum : 0.0f;
  constexpr std::int32_t below = (bit_cast<std::uint32_t>(0x1p-8f) >> 21) - 1;
  const auto octave = static_cast<std::int32_t>(bit_cast<std::uint32_t>(t) << 1 >> 22) - below;
  const std::int32_t size = octave < 0 ? 0 : octave;
  return t < 0 ? ratio_groups / 2 - 1 - size : ratio_groups / 2 + size;
}

/// Returns the group along p, the largest p first.
inline int depth_group(float p) {
  constexpr std::int32_t one = bit_cast<std::uint32_t>(1.0f) >> 22;
  const std::int32_t depth = one - static_cast<std::int32_t>(bit_cast<std::uint32_t>(p) >> 22);
  return depth < 0 ? 0 : depth < depth_groups ? depth : depth_groups - 1;
}

/// Returns the group along the token id.
inline int id_group(std::size_t token, std::size_t symbols) { return static_cast<int>(token * id_groups / symbols); }

/// The number format of a row.
struct RowRounding {
  int significant_bits = 24;  ///< 24 for float32, 11 for float16
  bool logarithms = true;     ///< whether the entries are logarithms; otherwise they are probabilities
};

/// e^h - 1 for each depth group.
using DepthSlack = std::array<double, depth_groups>;
/// Returns the slack of each depth group for rows in this format. `log_sum` is the logarithm of the sum of e^v over the
/// entries v of the row, or 0 for probabilities.
DepthSlack depth_slack(RowRounding rounding, double log_sum);

/// Probability and slack of each group.
template <int groups>
struct GroupMasses {
  std::array<double, groups> mass{}, slack{};
};

struct RowGroups {
  GroupMasses<ratio_groups> ratio_p, ratio_q;  ///< set for a pair of rows only
  GroupMasses<depth_groups> depth_p, depth_q;
  GroupMasses<id_groups> id_p, id_q;
  GroupMasses<2> top;  ///< p of two groups: the tokens with the largest p, and all others
  float largest_p = 0;
  double overlap = 0;  ///< sum of min(p, q); 0 unless both rows are given
  /// Sums of min(p, q), of q, and of the slack of q over the tokens with the largest p.
  double top_overlap = 0, top_q = 0, top_slack_q = 0;
};

/// Writes the groups of rows p and q, each with S entries for S tokens, to `out`. One of the rows may be empty; its
/// groups are then 0.
void group_rows(std::span<const float> p, std::span<const float> q, const DepthSlack& slack_p,
                const DepthSlack& slack_q, RowGroups& out);

}  // namespace draftproof
