// Points that fill the unit cube more evenly than random points: the Sobol sequence with Owen's nested
// scrambling, a function of (seed, index) only. Acceptance estimates and diagnosis use them; gates use independent
// trials.
//
//   x_n      point       n-th point, K 64-bit values: coordinates are value / 2^64
//   v_j      direction   32-bit direction numbers; the binary digits of n select the numbers that are xored
//   node     node        1 followed by the more significant digits; its hash with the dimension decides whether the
//                        digit is flipped
//
// Correctness: scrambling permutes the cube so that any 2^m points starting at a multiple of 2^m remain a (t,
// m, s)-net in base 2, while each single point is uniform; plain averages are unbiased. t is the sum of (degree
// - 1) over the primitive polynomials in use: 0, 0, 1, 3 for 1 to 4 dimensions. Digits below the 32nd are
// hashed, so values are uniform to the last bit. The error of an average is estimated by repetition over seeds only.
//
// Cost: 32 hashes per coordinate, about 0.1 us.
//
// Source: polynomials and first direction numbers: Joe and Kuo, SIAM J. Sci. Comput. 30 (2008), as in
// Boost.Random; scrambling: Owen, 1995 (cited from memory).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace draftproof {

class ScrambledSobol {
 public:
  static constexpr int max_dimensions = 16;

  /// Requires 1 <= dimensions <= max_dimensions.
  ScrambledSobol(int dimensions, std::uint64_t seed);

  /// Writes one 64-bit value for each dimension into `words`. Requires index < 2^32.
  void point(std::uint64_t index, std::span<std::uint64_t> words) const;

  /// Returns the 32 digits of a coordinate before scrambling, most significant first.
  static std::uint32_t digits(int dimension, std::uint64_t index);

 private:
  std::vector<std::uint64_t> keys_;
};

}  // namespace draftproof
