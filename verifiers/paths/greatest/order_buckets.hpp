// Buckets of p / q that order the tokens of fresh rows: intervals of the ratio's bits as a float, like RatioBuckets
// (ratio_buckets.hpp), but so few that a team of a device's threads can keep two sums of each.
//
//   r        ratio(p, q)          float(p / q), divided in float if the entries are no longer than float
//   of       of(r)                0 .. count - 1, rising with r; the top one also has r = inf and tokens with q = 0
//   [b, e)   begin(i), end(i)     floats r of bucket i; the outer buckets extend to 0 and to inf
//
// Sixteen buckets an octave: with coarser ones more tokens would be ordered by id instead of p / q; finer ones would
// cover fewer octaves. Compared with the order of the ratio itself, two or four drafts of laws 0.1 nats apart are
// accepted less often by 0.0016 at most, of laws 0.3 nats apart and more by less than 0.001 (V = 1,000 and 32,000,
// exact).
//
// Correctness: both divisions give the same bucket, see ratio_buckets.hpp.
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

  /// p / q as a float.
  template <class Entry>
  DRAFTPROOF_DEVICE static float ratio(Entry target, Entry proposal) {
    if constexpr (std::is_same_v<Entry, double>)
      return static_cast<float>(target / proposal);
    else
      return static_cast<float>(target) / static_cast<float>(proposal);
  }
  /// Bucket of a token with q > 0.
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
  /// Whether a token of this ratio is in the bucket; NaN, from 0 / 0, is in the top one.
  DRAFTPROOF_DEVICE static bool within(float ratio, int bucket) {
    return !(ratio < begin(bucket)) && (bucket == count - 1 || ratio < end(bucket));
  }

 private:
  static constexpr float infinity = std::numeric_limits<float>::infinity();
};

}  // namespace draftproof
