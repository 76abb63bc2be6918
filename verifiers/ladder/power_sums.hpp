// Passes over float rows for a race on buckets (race_bins.hpp): the large entries of q, and sums of the powers of all
// other entries in each bucket of p / q.
//
//   large_entries(q, most)   places of the entries above `most`, ascending
//   of(bucket)               sums of r, r^2, r^3, r^4 over the tokens of a bucket with 0 < q <= most, r = q / unit,
//                            as integers (LightPowers)
//
// Wide registers write bucket and r of each token to a buffer in the first-level cache; one 256-bit addition then
// adds the four powers of a token to its bucket. Cost: one such addition per token; large_entries only reads.
// Correctness: the sums are of integers, so every width and order gives the same bits. The tokens of a bucket alternate
// between two sums by the parity of their indices, so that neighbours in one bucket need not wait for each other.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <draftproof/sim/numeric/ratio_buckets.hpp>
#include <draftproof/sim/simd/readers.hpp>
#include <draftproof/sim/simd/registers.hpp>
#include <draftproof/verifiers/ladder/race_step.hpp>

namespace draftproof::simd {

/// Sums of the first four powers, in steps of LightPowers.
using FourPowers = std::array<std::int64_t, 4>;

#if DRAFTPROOF_WIDE
namespace detail {
/// Adds the powers of the number at `r` to the sums that start `byte` bytes after `sums`.
DRAFTPROOF_AVX2_PART void add_powers(std::int64_t* sums, const double* r, std::uint32_t byte) {
  auto* const sum = reinterpret_cast<__m256i*>(reinterpret_cast<unsigned char*>(sums) + byte);
  const __m256d one = _mm256_broadcast_sd(r), square = _mm256_mul_pd(one, one), six = _mm256_set1_pd(6.0);
  const __m256d low = _mm256_blend_pd(one, square, 0b1010);                   // r, r^2, r, r^2
  const __m256d high = _mm256_blend_pd(_mm256_set1_pd(1.0), square, 0b1100);  // 1, 1, r^2, r^2
  const __m256d power = _mm256_add_pd(_mm256_mul_pd(low, high), six);
  const __m256i steps = _mm256_sub_epi64(_mm256_castpd_si256(power), _mm256_castpd_si256(six));
  _mm256_store_si256(sum, _mm256_add_epi64(_mm256_load_si256(sum), steps));
}
}  // namespace detail

namespace avx2 {
/// Bit j: whether lane j of a is greater than lane j of b.
DRAFTPROOF_AVX2_PART std::uint32_t greater(Floats a, Floats b) {
  return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ)));
}
}  // namespace avx2

namespace avx512 {
DRAFTPROOF_AVX512_PART std::uint32_t greater(Floats a, Floats b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); }
}  // namespace avx512
#endif

}  // namespace draftproof::simd

#define DRAFTPROOF_BODY <draftproof/verifiers/ladder/power_sums_body.hpp>
#include <draftproof/sim/simd/each_width.hpp>

namespace draftproof::simd {

/// Returns the indices of the entries of a row above `most`, ascending.
template <class Entry>
std::vector<std::uint32_t> large_entries(std::span<const Entry> row, double most, Width width = in_use()) {
  std::vector<std::uint32_t> found;
  std::size_t x = 0;
#if DRAFTPROOF_WIDE
  if constexpr (std::is_same_v<Entry, float>) {
    const std::size_t whole = row.size() / 16 * 16;
    if (width == Width::avx512)
      avx512::find_large(row.data(), x = whole, static_cast<float>(most), found);
    else if (width == Width::avx2)
      avx2::find_large(row.data(), x = whole, static_cast<float>(most), found);
  }
#endif
  (void)width;
  for (; x < row.size(); ++x)
    if (row[x] > most) found.push_back(static_cast<std::uint32_t>(x));
  return found;
}

/// Takes 64 bytes per bucket, on the stack of the caller. `most` must be exact in the rows' format.
template <class Buckets>
class PowersByRatio {
 public:
  template <class Entry>
  PowersByRatio(std::span<const Entry> target, std::span<const Entry> proposal, double most,
                const LightPowers& powers, Width width = in_use());

  FourPowers of(std::size_t bucket) const {
    FourPowers sum = sums_[bucket][0];
    for (std::size_t m = 0; m < sum.size(); ++m) sum[m] += sums_[bucket][1][m];
    return sum;
  }

 private:
  alignas(64) std::array<std::array<FourPowers, 2>, Buckets::count + 1> sums_{};
};

template <class Buckets>
template <class Entry>
PowersByRatio<Buckets>::PowersByRatio(std::span<const Entry> target, std::span<const Entry> proposal, double most,
                                      const LightPowers& powers, Width width) {
  std::size_t x = 0;
#if DRAFTPROOF_WIDE
  if constexpr (std::is_same_v<Entry, float>) {
    const std::size_t whole = target.size() / 16 * 16;
    std::int64_t* const sums = sums_[0][0].data();
    const auto bound = static_cast<float>(most);
    if (width == Width::avx512)
      avx512::add_powers<Buckets>(sums, target.data(), proposal.data(), x = whole, bound, powers.scale());
    else if (width == Width::avx2)
      avx2::add_powers<Buckets>(sums, target.data(), proposal.data(), x = whole, bound, powers.scale());
  }
#endif
  (void)width;
  for (; x < target.size(); ++x) {
    const double q = proposal[x];
    if (!(q > 0) || q > most) continue;
    FourPowers& sum = sums_[Buckets::of(target[x], q)][x % 2];
    const double r = q * powers.scale(), square = r * r;
    sum[0] += LightPowers::of(r);
    sum[1] += LightPowers::of(square);
    sum[2] += LightPowers::of(r * square);
    sum[3] += LightPowers::of(square * square);
  }
}

}  // namespace draftproof::simd
