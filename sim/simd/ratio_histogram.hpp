// One pass over a pair of rows: p- and q-mass of the tokens in every bucket of p / q.
//
//   bucket   Buckets::of(p, q)         of tokens with q > 0; `outside` of the others
//   masses   of(bucket)                sums of to_fixed(p) and to_fixed(q) over its tokens, in any order
//
// Wide registers compute buckets and integers and store them in a buffer in the first-level cache; pairs of integers
// are then added to their buckets by one 128-bit addition each. 512-bit registers work four groups of sixteen tokens
// ahead of the additions, so that both run at the same time. Sums are kept twice and tokens alternate between them,
// so that neighbours in one bucket need not wait for each other.
// Cost: one addition to memory a token, which bounds the pass.
// Correctness: the integers are exact at every width. 2^60 p is a float or far below 1, and 256-bit registers, which
// have no conversion, shift the significand by the exponent.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/numeric/ratio_buckets.hpp>
#include <draftproof/sim/simd/dispatch.hpp>

namespace draftproof::simd {

struct alignas(16) RatioMass {
  Fixed target = 0, proposal = 0;
  bool operator==(const RatioMass&) const = default;
};

/// The histogram; 32 bytes a bucket, meant for the stack. `Buckets` are equal intervals of the ratio's bits
/// (ratio_buckets.hpp).
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
  static constexpr std::size_t batch = 256;

  template <class Entry>
  void add(Entry target, Entry proposal) {
    const std::size_t bucket = proposal > 0 ? Buckets::of(target, proposal) : Buckets::outside;
    sums_[bucket][0].target += to_fixed(target);
    sums_[bucket][0].proposal += to_fixed(proposal);
  }

#if DRAFTPROOF_WIDE
  static_assert(sizeof(Sums) == 32);
  /// Shifts float bits to byte offsets into sums_, multiples of 32 once the lower bits are masked.
  static constexpr int byte_shift = Buckets::shift - 5;
  static constexpr int first_byte = static_cast<int>(Buckets::lowest_bits >> byte_shift);

  DRAFTPROOF_AVX2_PART void drain_one(const RatioMass& mass, std::uint64_t byte) {
    auto* const sum = reinterpret_cast<__m128i*>(reinterpret_cast<unsigned char*>(sums_.data()) + byte);
    const __m128i more = _mm_load_si128(reinterpret_cast<const __m128i*>(&mass));
    _mm_store_si128(sum, _mm_add_epi64(_mm_load_si128(sum), more));
  }
  /// Reads two byte offsets at once: loads are the bottleneck.
  DRAFTPROOF_AVX2_PART void drain_two(const RatioMass& first, const RatioMass& second, const std::uint32_t* bytes) {
    std::uint64_t two;
    std::memcpy(&two, bytes, sizeof two);
    drain_one(first, static_cast<std::uint32_t>(two));
    drain_one(second, two >> 32);
  }
  /// Adds eight tokens. The masses of tokens 2 and 3 are at `second_pair`, those of 4 and 5 at the other inner
  /// position.
  template <int second_pair>
  DRAFTPROOF_AVX2_PART void drain(const RatioMass* mass, const std::uint32_t* bytes) {
    drain_two(mass[0], mass[1], bytes);
    drain_two(mass[second_pair], mass[second_pair + 1], bytes + 2);
    drain_two(mass[6 - second_pair], mass[7 - second_pair], bytes + 4);
    drain_two(mass[6], mass[7], bytes + 6);
  }
  DRAFTPROOF_AVX2 void add_avx2(const float* p, const float* q, std::size_t count);
  DRAFTPROOF_AVX512 void add_avx512(const float* p, const float* q, std::size_t count);
  DRAFTPROOF_AVX512_PART static void prepare(const float* p, const float* q, RatioMass* mass, std::uint32_t* bytes);
#endif

  alignas(64) std::array<Sums, Buckets::count + 1> sums_{};
};

#if DRAFTPROOF_WIDE
namespace detail {
/// to_fixed of four floats below 8, given their bits: the shifted significand.
DRAFTPROOF_AVX2_PART __m256i fixed_of(__m256i bits) {
  const __m256i one = _mm256_set1_epi64x(1 << 23), unit_exponent = _mm256_set1_epi64x(127 + 23 - 60);
  const __m256i significand = _mm256_or_si256(_mm256_and_si256(bits, _mm256_set1_epi64x((1 << 23) - 1)), one);
  const __m256i exponent = _mm256_srli_epi64(bits, 23);
  // One of the two shifts is by a negative number, which counts as more than 63 and gives 0, or both are by 0.
  return _mm256_or_si256(_mm256_sllv_epi64(significand, _mm256_sub_epi64(exponent, unit_exponent)),
                         _mm256_srlv_epi64(significand, _mm256_sub_epi64(unit_exponent, exponent)));
}
}  // namespace detail

template <class Buckets>
DRAFTPROOF_AVX2 void MassesByRatio<Buckets>::add_avx2(const float* p, const float* q, std::size_t count) {
  const __m256 low = _mm256_set1_ps(std::bit_cast<float>(Buckets::lowest_bits));
  const __m256 high = _mm256_set1_ps(std::bit_cast<float>(Buckets::end_bits - 1));
  const __m256 out = _mm256_set1_ps(std::bit_cast<float>(Buckets::end_bits));
  const __m256i rows = _mm256_set1_epi32(~31), odd = _mm256_set_epi32(16, 0, 16, 0, 16, 0, 16, 0);
  alignas(64) RatioMass mass[batch];
  alignas(64) std::uint32_t bytes[batch];
  for (std::size_t start = 0; start < count; start += batch) {
    const std::size_t size = std::min(batch, count - start);
    for (std::size_t i = 0; i < size; i += 8) {
      const __m256 a = _mm256_loadu_ps(p + start + i), b = _mm256_loadu_ps(q + start + i);
      const __m256 drafted = _mm256_cmp_ps(b, _mm256_setzero_ps(), _CMP_GT_OQ);
      const __m256 divisor = _mm256_blendv_ps(out, b, drafted);
      const __m256 ratio = _mm256_min_ps(_mm256_max_ps(_mm256_div_ps(a, divisor), low), high);
      const __m256i bits = _mm256_castps_si256(_mm256_blendv_ps(out, ratio, drafted));
      const __m256i byte = _mm256_sub_epi32(_mm256_and_si256(_mm256_srli_epi32(bits, byte_shift), rows),
                                            _mm256_set1_epi32(first_byte));
      _mm256_store_si256(reinterpret_cast<__m256i*>(bytes + i), _mm256_or_si256(byte, odd));
      const __m256i pairs[2] = {_mm256_castps_si256(_mm256_unpacklo_ps(a, b)),
                                _mm256_castps_si256(_mm256_unpackhi_ps(a, b))};
      auto* to = reinterpret_cast<__m256i*>(mass + i);
      for (int lane = 0; lane < 2; ++lane)
        for (const __m256i& four : pairs) {
          const __m128i half = lane == 0 ? _mm256_castsi256_si128(four) : _mm256_extracti128_si256(four, 1);
          _mm256_store_si256(to++, detail::fixed_of(_mm256_cvtepu32_epi64(half)));
        }
    }
    for (std::size_t i = 0; i < size; i += 8) drain<2>(mass + i, bytes + i);
  }
}

/// Computes the masses and byte offsets of sixteen tokens; the masses in the order of the unpack instructions.
template <class Buckets>
DRAFTPROOF_AVX512_PART void MassesByRatio<Buckets>::prepare(const float* p, const float* q, RatioMass* mass,
                                                            std::uint32_t* bytes) {
  const __m512 low = _mm512_set1_ps(std::bit_cast<float>(Buckets::lowest_bits));
  const __m512 high = _mm512_set1_ps(std::bit_cast<float>(Buckets::end_bits - 1));
  const __m512 out = _mm512_set1_ps(std::bit_cast<float>(Buckets::end_bits)), large = _mm512_set1_ps(0x1p60f);
  const __m512i rows = _mm512_set1_epi32(~31), odd = _mm512_set1_epi64(std::int64_t{16} << 32);
  const __m512 a = _mm512_loadu_ps(p), b = _mm512_loadu_ps(q);
  const __mmask16 drafted = _mm512_cmp_ps_mask(b, _mm512_setzero_ps(), _CMP_GT_OQ);
  const __m512 ratio = _mm512_max_ps(_mm512_maskz_div_ps(drafted, a, b), low);
  const __m512i bits = _mm512_castps_si512(_mm512_mask_min_ps(out, drafted, ratio, high));
  const __m512i step = _mm512_sub_epi32(_mm512_srli_epi32(bits, byte_shift), _mm512_set1_epi32(first_byte));
  constexpr int and_or = 0xEA;  // (step & rows) | odd
  _mm512_store_si512(bytes, _mm512_ternarylogic_epi32(step, rows, odd, and_or));
  const __m512 large_a = _mm512_mul_ps(a, large), large_b = _mm512_mul_ps(b, large);
  const __m512 even = _mm512_unpacklo_ps(large_a, large_b), rest = _mm512_unpackhi_ps(large_a, large_b);
  _mm512_store_si512(mass, _mm512_cvttps_epi64(_mm512_castps512_ps256(even)));
  _mm512_store_si512(mass + 4, _mm512_cvttps_epi64(_mm512_castps512_ps256(rest)));
  _mm512_store_si512(mass + 8, _mm512_cvttps_epi64(_mm512_extractf32x8_ps(even, 1)));
  _mm512_store_si512(mass + 12, _mm512_cvttps_epi64(_mm512_extractf32x8_ps(rest, 1)));
}

template <class Buckets>
DRAFTPROOF_AVX512 void MassesByRatio<Buckets>::add_avx512(const float* p, const float* q, std::size_t count) {
  constexpr std::size_t lead = 4 * 16, ring = 2 * lead;
  alignas(64) RatioMass mass[ring];
  alignas(64) std::uint32_t bytes[ring];
  for (std::size_t i = 0; i < count + lead; i += 16) {
    if (i < count) prepare(p + i, q + i, mass + i % ring, bytes + i % ring);
    if (i < lead) continue;
    const std::size_t due = (i - lead) % ring;
    drain<4>(mass + due, bytes + due);
    drain<4>(mass + due + 8, bytes + due + 8);
  }
}
#endif

template <class Buckets>
template <class Entry>
MassesByRatio<Buckets>::MassesByRatio(std::span<const Entry> target, std::span<const Entry> proposal, Width width) {
  std::size_t x = 0;
#if DRAFTPROOF_WIDE
  if constexpr (std::is_same_v<Entry, float>) {
    const std::size_t whole = target.size() / 16 * 16;
    if (width == Width::avx512)
      add_avx512(target.data(), proposal.data(), x = whole);
    else if (width == Width::avx2)
      add_avx2(target.data(), proposal.data(), x = whole);
  }
#endif
  (void)width;
  for (; x < target.size(); ++x) add(target[x], proposal[x]);
}

using RatioMasses = MassesByRatio<RatioBuckets>;

}  // namespace draftproof::simd
