// Buckets of p / q. Buckets are equal intervals of the ratio's bits as a float, so a shift gives the bucket.
//
//   r        float(p / q)         rounded to float for all formats of rows: only its top bits matter
//   step     2^-fine_bits         of an octave, linear within it: a bucket is at most 1/64 of its ratio wide
//   bucket   of(p, q)             0 .. count - 1, rising with the ratio; the first and the last are unbounded; q > 0
//   outside  count                index under which passes count the tokens with q = 0
//
// Correctness: every operation is monotone in the ratio. For rows of floats a division in float, and a division in
// double whose result is rounded to float, give the same r: a quotient of two 24-bit numbers that is not a midpoint
// of two floats has a relative distance above 2^-50 from every midpoint, so rounding to double crosses no midpoint.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

struct RatioBuckets {
  static constexpr int fine_bits = 6, octaves = 8;
  static constexpr int count = 2 * octaves << fine_bits;
  static constexpr std::size_t outside = count;
  static constexpr int shift = 23 - fine_bits;
  static constexpr std::uint32_t lowest_bits = (127 - octaves) << 23, end_bits = (127 + octaves) << 23;

  /// Returns the bucket of a ratio >= 0.
  DRAFTPROOF_DEVICE static constexpr std::size_t of(float ratio) {
    const auto bits = bit_cast<std::int32_t>(ratio);  // ratio >= 0
    const int step = (bits >> shift) - static_cast<int>(lowest_bits >> shift);
    return static_cast<std::size_t>(step < 0 ? 0 : step < count ? step : count - 1);
  }
  /// The bounds of a bucket: its tokens have begin <= p / q < end, up to the rounding of p / q to float. Bucket 0
  /// begins at 0. The last bucket has no upper bound; for it, end(bucket) returns where a next bucket would begin.
  DRAFTPROOF_DEVICE static constexpr double begin(int bucket) {
    return bucket == 0 ? 0 : double{bit_cast<float>(lowest_bits + (static_cast<std::uint32_t>(bucket) << shift))};
  }
  DRAFTPROOF_DEVICE static constexpr double end(int bucket) { return begin(bucket + 1); }
  /// Returns the bucket of target / proposal; proposal > 0.
  DRAFTPROOF_DEVICE static constexpr std::size_t of(double target, double proposal) {
    return of(static_cast<float>(target / proposal));
  }
};

}  // namespace draftproof
