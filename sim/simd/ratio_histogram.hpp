// Computes the p- and q-mass of the tokens in every bucket of p / q, by one pass over a pair of rows.
//
//   bucket   Buckets::of(p, q)         for tokens with q > 0; `outside` for tokens with q = 0
//   masses   of(bucket)                sums of to_fixed(p) and to_fixed(q) over the bucket's tokens, as integers
//
// Wide registers compute buckets and integers and write them to a buffer in the first-level cache; then each pair of
// integers is added to its bucket by one 128-bit addition. Every bucket has two sums, between which tokens alternate,
// so that successive additions to one bucket need not wait for each other.
// Cost: one addition to memory for each token, which limits the pass.
// Correctness: integers are the same at every width. 2^60 p is a float, or far below 1 and truncated to 0; AVX2,
// which has no conversion to 64-bit integers, shifts the significand by the exponent.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/numeric/ratio_buckets.hpp>
#include <draftproof/sim/simd/registers.hpp>

namespace draftproof::simd {

struct alignas(16) RatioMass {
  Fixed target = 0, proposal = 0;
  bool operator==(const RatioMass&) const = default;
};

#if DRAFTPROOF_WIDE
namespace detail {
DRAFTPROOF_AVX2_PART void drain_one(RatioMass* sums, const RatioMass& mass, std::uint64_t byte) {
  auto* const sum = reinterpret_cast<__m128i*>(reinterpret_cast<unsigned char*>(sums) + byte);
  const __m128i more = _mm_load_si128(reinterpret_cast<const __m128i*>(&mass));
  _mm_store_si128(sum, _mm_add_epi64(_mm_load_si128(sum), more));
}
/// Reads two byte offsets by one load, because the number of loads limits the loop.
DRAFTPROOF_AVX2_PART void drain_two(RatioMass* sums, const RatioMass& first, const RatioMass& second,
                                    const std::uint32_t* bytes) {
  std::uint64_t two;
  std::memcpy(&two, bytes, sizeof two);
  drain_one(sums, first, static_cast<std::uint32_t>(two));
  drain_one(sums, second, two >> 32);
}
/// Adds eight tokens; the masses of tokens 2 and 3 are at `second_pair`, the masses of 4 and 5 at 6 - `second_pair`.
template <std::size_t second_pair>
DRAFTPROOF_AVX2_PART void drain(RatioMass* sums, const RatioMass* mass, const std::uint32_t* bytes) {
  drain_two(sums, mass[0], mass[1], bytes);
  drain_two(sums, mass[second_pair], mass[second_pair + 1], bytes + 2);
  drain_two(sums, mass[6 - second_pair], mass[7 - second_pair], bytes + 4);
  drain_two(sums, mass[6], mass[7], bytes + 6);
}
/// Returns to_fixed of four floats below 8, given their bits: the shifted significand.
DRAFTPROOF_AVX2_PART __m256i fixed_of(__m256i bits) {
  const __m256i one = _mm256_set1_epi64x(1 << 23), unit_exponent = _mm256_set1_epi64x(127 + 23 - 60);
  const __m256i significand = _mm256_or_si256(_mm256_and_si256(bits, _mm256_set1_epi64x((1 << 23) - 1)), one);
  const __m256i exponent = _mm256_srli_epi64(bits, 23);
  // Either both shift counts are 0, or one of them is negative; as an unsigned number it is above 63, so its result is
  // 0.
  return _mm256_or_si256(_mm256_sllv_epi64(significand, _mm256_sub_epi64(exponent, unit_exponent)),
                         _mm256_srlv_epi64(significand, _mm256_sub_epi64(unit_exponent, exponent)));
}
}  // namespace detail

namespace avx2 {
DRAFTPROOF_AVX2_PART void store_masses(RatioMass* mass, Floats a, Floats b) {
  const auto even = as<__m256i>(_mm256_unpacklo_ps(a, b)), rest = as<__m256i>(_mm256_unpackhi_ps(a, b));
  store(mass, detail::fixed_of(_mm256_cvtepu32_epi64(_mm256_castsi256_si128(even))));
  store(mass + 2, detail::fixed_of(_mm256_cvtepu32_epi64(_mm256_castsi256_si128(rest))));
  store(mass + 4, detail::fixed_of(_mm256_cvtepu32_epi64(_mm256_extracti128_si256(even, 1))));
  store(mass + 6, detail::fixed_of(_mm256_cvtepu32_epi64(_mm256_extracti128_si256(rest, 1))));
}
}  // namespace avx2

namespace avx512 {
DRAFTPROOF_AVX512_PART void store_masses(RatioMass* mass, Floats a, Floats b) {
  const Floats even = _mm512_unpacklo_ps(a * 0x1p60f, b * 0x1p60f),
               rest = _mm512_unpackhi_ps(a * 0x1p60f, b * 0x1p60f);
  store(mass, _mm512_cvttps_epi64(_mm512_castps512_ps256(even)));
  store(mass + 4, _mm512_cvttps_epi64(_mm512_castps512_ps256(rest)));
  store(mass + 8, _mm512_cvttps_epi64(_mm512_extractf32x8_ps(even, 1)));
  store(mass + 12, _mm512_cvttps_epi64(_mm512_extractf32x8_ps(rest, 1)));
}
}  // namespace avx512
#endif

}  // namespace draftproof::simd

#define DRAFTPROOF_BODY <draftproof/sim/simd/ratio_body.hpp>
#include <draftproof/sim/simd/each_width.hpp>

namespace draftproof::simd {

/// The masses of all buckets, stored in the object: 32 bytes for each bucket. `Buckets` are equal steps of the ratio's
/// bits (ratio_buckets.hpp).
template <class Buckets>
class MassesByRatio {
 public:
  template <class Entry>
  MassesByRatio(std::span<const Entry> target, std::span<const Entry> proposal, Width width = in_use());

  RatioMass of(std::size_t bucket) const {
    const auto& [even, odd] = sums_[bucket];
    return {even.target + odd.target, even.proposal + odd.proposal};
  }

 private:
  using Sums = std::array<RatioMass, 2>;

  template <class Entry>
  void add(Entry target, Entry proposal) {
    const std::size_t bucket = proposal > 0 ? Buckets::of(target, proposal) : Buckets::outside;
    sums_[bucket][0].target += to_fixed(target);
    sums_[bucket][0].proposal += to_fixed(proposal);
  }

  alignas(64) std::array<Sums, Buckets::count + 1> sums_{};
};

template <class Buckets>
template <class Entry>
MassesByRatio<Buckets>::MassesByRatio(std::span<const Entry> target, std::span<const Entry> proposal, Width width) {
  std::size_t x = 0;
#if DRAFTPROOF_WIDE
  if constexpr (std::is_same_v<Entry, float>) {
    const std::size_t whole = target.size() / 16 * 16;
    if (width == Width::avx512)
      avx512::add_masses<Buckets>(sums_[0].data(), target.data(), proposal.data(), x = whole);
    else if (width == Width::avx2)
      avx2::add_masses<Buckets>(sums_[0].data(), target.data(), proposal.data(), x = whole);
  }
#endif
  (void)width;
  for (; x < target.size(); ++x) add(target[x], proposal[x]);
}

using RatioMasses = MassesByRatio<RatioBuckets>;

}  // namespace draftproof::simd
