// Buckets of p / q that order the tokens of fresh rows: steps of the ratio's representation as a float, as
// RatioBuckets (ratio_buckets.hpp) has them, but so few that a team of a device's threads keeps two sums of each.
//
//   r        ratio(p, q)          float(p / q), divided in float where entries are no longer than that
//   of       of(r)                0 .. count - 1, rising with r; the top one has r = inf too, and what has q = 0
//   [b, e)   begin(i), end(i)     floats r of bucket i; the outer buckets are open: from 0, to inf
//
// Sixteen buckets an octave: coarser ones would put more tokens in an order that p / q does not give, finer ones
// would leave fewer octaves. Two or four drafts of laws 0.1 nats apart are accepted less often by 0.0016 at most than
// in the order of the ratio itself, of laws 0.3 nats apart and more by less than 0.001 (V = 1,000 and 32,000, exact).
// Right to divide either way: see ratio_buckets.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

struct OrderBuckets {
  static constexpr int fine_bits = 4, lowest_octave = -12, end_octave = 4;
  static constexpr int count = (end_octave - lowest_octave) << fine_bits;
  static constexpr std::size_t outside = count;
  static constexpr int shift = 23 - fine_bits;
  static constexpr std::uint32_t lowest_bits = (127 + lowest_octave) << 23, end_bits = (127 + end_octave) << 23;

  template <class Entry>
  DRAFTPROOF_DEVICE static float ratio(Entry target, Entry proposal) {
    if constexpr (std::is_same_v<Entry, double>)
      return static_cast<float>(target / proposal);
    else
      return static_cast<float>(target) / static_cast<float>(proposal);
  }
  /// Of a token with q > 0.
  DRAFTPROOF_DEVICE static std::size_t of(float ratio) {
    if (!(ratio < begin(count - 1))) return count - 1;
    const int step = (bit_cast<std::int32_t>(ratio) >> shift) - static_cast<int>(lowest_bits >> shift);
    return static_cast<std::size_t>(step < 0 ? 0 : step);
  }
  DRAFTPROOF_DEVICE static std::size_t of(double target, double proposal) { return of(ratio(target, proposal)); }

  DRAFTPROOF_DEVICE static float begin(int bucket) {
    return bucket == 0 ? 0.0f : bit_cast<float>(lowest_bits + (static_cast<std::uint32_t>(bucket) << shift));
  }
  DRAFTPROOF_DEVICE static float end(int bucket) { return bucket == count - 1 ? infinity : begin(bucket + 1); }
  /// Whether a token of this ratio is in the bucket; NaN, of 0 / 0, is in the top one.
  DRAFTPROOF_DEVICE static bool within(float ratio, int bucket) {
    return !(ratio < begin(bucket)) && (bucket == count - 1 || ratio < end(bucket));
  }

 private:
  static constexpr float infinity = std::numeric_limits<float>::infinity();
};

}  // namespace draftproof
