// The loops of softmax over one block of logits in wide registers; their scalar versions are in softmax_block.hpp.
// Every operation of a scalar version has one counterpart here, on 8 or 16 entries.
//
// The remainder at the end of a block is padded with -infinity, whose power is 0 and adds nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/simd/readers.hpp>

#if DRAFTPROOF_WIDE
namespace draftproof::simd {
namespace detail {

inline constexpr float infinite_logit = std::numeric_limits<float>::infinity();

/// Entries start .. count - 1, fewer than `lanes`, followed by -infinity.
template <std::size_t lanes, class Reader>
void padded(const Reader& logits, std::size_t start, std::size_t count, float* rest) {
  std::fill_n(rest, lanes, -infinite_logit);
  for (std::size_t i = start; i < count; ++i) rest[i - start] = logits.one(i);
}

/// Prefetches the entries one block ahead of entry i, which the next call reads; past the end of a row without
/// effect.
template <class Reader>
void fetch_next_block(const Reader& logits, std::size_t i) {
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(logits.first + i) +
                                                   1024 * sizeof(*logits.first)));
}

/// Sum of the lanes of `calls` vectors of bits, less the bits of 1 and 1.5, in units of 2^-46. Differences are modulo
/// 2^32: at most 129 calls keep coarse parts below 129 2^23 and fine ones below 129 2^22 in size.
inline std::uint64_t sum_of_lanes(const std::uint32_t* coarse, const std::uint32_t* fine, int lanes,
                                  std::size_t calls) {
  const auto count = static_cast<std::uint32_t>(calls);
  std::uint64_t sum = 0;
  for (int lane = 0; lane < lanes; ++lane) {
    const std::uint32_t units = coarse[lane] - count * bit_cast<std::uint32_t>(1.0f);
    const auto small = static_cast<std::int32_t>(fine[lane] - count * bit_cast<std::uint32_t>(1.5f));
    sum += (std::uint64_t{units} << 23) + static_cast<std::uint64_t>(std::int64_t{small});
  }
  return sum;
}

/// Maximum, and whether every entry is below +infinity.
struct Greatest256 {
  __m256 greatest, sound;

  DRAFTPROOF_AVX2_PART static Greatest256 none() {
    return {_mm256_set1_ps(-infinite_logit), _mm256_castsi256_ps(_mm256_set1_epi32(-1))};
  }
  DRAFTPROOF_AVX2_PART void add(__m256 x) {
    greatest = _mm256_max_ps(greatest, x);
    sound = _mm256_and_ps(sound, _mm256_cmp_ps(x, _mm256_set1_ps(infinite_logit), _CMP_LT_OQ));
  }
  DRAFTPROOF_AVX2_PART void add(const Greatest256& other) {
    greatest = _mm256_max_ps(greatest, other.greatest);
    sound = _mm256_and_ps(sound, other.sound);
  }
  DRAFTPROOF_AVX2_PART bool told(float& result) const {
    alignas(32) float lanes[8];
    _mm256_store_ps(lanes, greatest);
    result = *std::max_element(lanes, lanes + 8);
    return _mm256_movemask_ps(sound) == 0xFF;
  }
};

struct Greatest512 {
  __m512 greatest;
  __mmask16 sound;

  DRAFTPROOF_AVX512_PART static Greatest512 none() { return {_mm512_set1_ps(-infinite_logit), 0xFFFF}; }
  DRAFTPROOF_AVX512_PART void add(__m512 x) {
    greatest = _mm512_max_ps(greatest, x);
    sound = _kand_mask16(sound, _mm512_cmp_ps_mask(x, _mm512_set1_ps(infinite_logit), _CMP_LT_OQ));
  }
  DRAFTPROOF_AVX512_PART void add(const Greatest512& other) {
    greatest = _mm512_max_ps(greatest, other.greatest);
    sound = _kand_mask16(sound, other.sound);
  }
  DRAFTPROOF_AVX512_PART bool told(float& result) const {
    result = _mm512_reduce_max_ps(greatest);
    return sound == 0xFFFF;
  }
};

/// Powers of (x - greatest) t, and the sums of their two parts as bits.
struct Powers256 {
  __m256 greatest, inverse;
  __m256i coarse, fine;

  DRAFTPROOF_AVX2_PART static __m256 exp_nonpositive(__m256 x) {
    using E = PowerOfE;
    const __m256 shift = _mm256_set1_ps(E::to_integer), one = _mm256_set1_ps(1);
    const __m256 shifted = _mm256_fmadd_ps(x, _mm256_set1_ps(E::per_ln2), shift), n = _mm256_sub_ps(shifted, shift);
    const __m256 r =
        _mm256_fnmadd_ps(n, _mm256_set1_ps(E::ln2_low), _mm256_fnmadd_ps(n, _mm256_set1_ps(E::ln2_high), x));
    __m256 power = _mm256_fmadd_ps(_mm256_set1_ps(E::c6), r, _mm256_set1_ps(E::c5));
    power = _mm256_fmadd_ps(power, r, _mm256_set1_ps(E::c4));
    power = _mm256_fmadd_ps(power, r, _mm256_set1_ps(E::c3));
    power = _mm256_fmadd_ps(power, r, _mm256_set1_ps(E::c2));
    power = _mm256_fmadd_ps(_mm256_fmadd_ps(power, r, one), r, one);
    const __m256i exponent = _mm256_slli_epi32(_mm256_castps_si256(shifted), 23);
    const __m256 scaled = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(power), exponent));
    return _mm256_and_ps(scaled, _mm256_cmp_ps(x, _mm256_set1_ps(E::least), _CMP_GE_OQ));
  }
  DRAFTPROOF_AVX2_PART __m256 of(__m256 x) {
    const __m256 power = exp_nonpositive(_mm256_mul_ps(_mm256_sub_ps(x, greatest), inverse));
    const __m256 one = _mm256_set1_ps(1), split = _mm256_add_ps(one, power);
    const __m256 rest = _mm256_sub_ps(power, _mm256_sub_ps(split, one));
    coarse = _mm256_add_epi32(coarse, _mm256_castps_si256(split));
    fine = _mm256_add_epi32(
        fine, _mm256_castps_si256(_mm256_fmadd_ps(rest, _mm256_set1_ps(0x1p23f), _mm256_set1_ps(1.5f))));
    return power;
  }
  DRAFTPROOF_AVX2_PART std::uint64_t sum(std::size_t calls) const {
    alignas(32) std::uint32_t coarse_lanes[8], fine_lanes[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(coarse_lanes), coarse);
    _mm256_store_si256(reinterpret_cast<__m256i*>(fine_lanes), fine);
    return sum_of_lanes(coarse_lanes, fine_lanes, 8, calls);
  }
};

struct Powers512 {
  __m512 greatest, inverse;
  __m512i coarse, fine;

  DRAFTPROOF_AVX512_PART static __m512 exp_nonpositive(__m512 x) {
    using E = PowerOfE;
    const __m512 shift = _mm512_set1_ps(E::to_integer), one = _mm512_set1_ps(1);
    const __m512 shifted = _mm512_fmadd_ps(x, _mm512_set1_ps(E::per_ln2), shift), n = _mm512_sub_ps(shifted, shift);
    const __m512 r =
        _mm512_fnmadd_ps(n, _mm512_set1_ps(E::ln2_low), _mm512_fnmadd_ps(n, _mm512_set1_ps(E::ln2_high), x));
    __m512 power = _mm512_fmadd_ps(_mm512_set1_ps(E::c6), r, _mm512_set1_ps(E::c5));
    power = _mm512_fmadd_ps(power, r, _mm512_set1_ps(E::c4));
    power = _mm512_fmadd_ps(power, r, _mm512_set1_ps(E::c3));
    power = _mm512_fmadd_ps(power, r, _mm512_set1_ps(E::c2));
    power = _mm512_fmadd_ps(_mm512_fmadd_ps(power, r, one), r, one);
    const __m512i exponent = _mm512_slli_epi32(_mm512_castps_si512(shifted), 23);
    const __mmask16 inside = _mm512_cmp_ps_mask(x, _mm512_set1_ps(E::least), _CMP_GE_OQ);
    return _mm512_castsi512_ps(_mm512_maskz_add_epi32(inside, _mm512_castps_si512(power), exponent));
  }
  DRAFTPROOF_AVX512_PART __m512 of(__m512 x) {
    const __m512 power = exp_nonpositive(_mm512_mul_ps(_mm512_sub_ps(x, greatest), inverse));
    const __m512 one = _mm512_set1_ps(1), split = _mm512_add_ps(one, power);
    const __m512 rest = _mm512_sub_ps(power, _mm512_sub_ps(split, one));
    coarse = _mm512_add_epi32(coarse, _mm512_castps_si512(split));
    fine = _mm512_add_epi32(
        fine, _mm512_castps_si512(_mm512_fmadd_ps(rest, _mm512_set1_ps(0x1p23f), _mm512_set1_ps(1.5f))));
    return power;
  }
  DRAFTPROOF_AVX512_PART std::uint64_t sum(std::size_t calls) const {
    alignas(64) std::uint32_t coarse_lanes[16], fine_lanes[16];
    _mm512_store_si512(coarse_lanes, coarse);
    _mm512_store_si512(fine_lanes, fine);
    return sum_of_lanes(coarse_lanes, fine_lanes, 16, calls);
  }
};

}  // namespace detail

/// Powers of at most a block of logits. Returns whether all are below +infinity; if not, only `greatest` is written.
template <class Reader>
DRAFTPROOF_AVX2 bool avx2_powers(Reader logits, std::size_t count, float inverse, float* powers, float& greatest,
                                 std::uint64_t& sum) {
  const std::size_t whole = count / 8 * 8;
  alignas(32) float rest[8];
  detail::padded<8>(logits, whole, count, rest);
  auto even = detail::Greatest256::none(), odd = even;
  odd.add(_mm256_load_ps(rest));
  for (std::size_t i = 0; i + 8 <= whole; i += 16) {
    even.add(logits.load8(i));
    if (i + 16 <= whole) odd.add(logits.load8(i + 8));
  }
  even.add(odd);
  if (!even.told(greatest)) return false;
  sum = 0;
  if (greatest == -detail::infinite_logit) {
    std::fill_n(powers, count, 0.0f);
    return true;
  }
  detail::Powers256 power{_mm256_set1_ps(greatest), _mm256_set1_ps(inverse), _mm256_setzero_si256(),
                          _mm256_setzero_si256()};
  for (std::size_t i = 0; i < whole; i += 8) {
    detail::fetch_next_block(logits, i);
    _mm256_storeu_ps(powers + i, power.of(logits.load8(i)));
  }
  _mm256_store_ps(rest, power.of(_mm256_load_ps(rest)));
  std::copy_n(rest, count - whole, powers + whole);
  sum = power.sum(whole / 8 + 1);
  return true;
}

template <class Reader>
DRAFTPROOF_AVX512 bool avx512_powers(Reader logits, std::size_t count, float inverse, float* powers, float& greatest,
                                     std::uint64_t& sum) {
  const std::size_t whole = count / 16 * 16;
  alignas(64) float rest[16];
  detail::padded<16>(logits, whole, count, rest);
  auto even = detail::Greatest512::none(), odd = even;
  odd.add(_mm512_load_ps(rest));
  for (std::size_t i = 0; i + 16 <= whole; i += 32) {
    even.add(logits.load16(i));
    if (i + 32 <= whole) odd.add(logits.load16(i + 16));
  }
  even.add(odd);
  if (!even.told(greatest)) return false;
  sum = 0;
  if (greatest == -detail::infinite_logit) {
    std::fill_n(powers, count, 0.0f);
    return true;
  }
  detail::Powers512 power{_mm512_set1_ps(greatest), _mm512_set1_ps(inverse), _mm512_setzero_si512(),
                          _mm512_setzero_si512()};
  for (std::size_t i = 0; i < whole; i += 16) {
    detail::fetch_next_block(logits, i);
    _mm512_storeu_ps(powers + i, power.of(logits.load16(i)));
  }
  _mm512_store_ps(rest, power.of(_mm512_load_ps(rest)));
  std::copy_n(rest, count - whole, powers + whole);
  sum = power.sum(whole / 16 + 1);
  return true;
}

/// Powers of e of the first multiple of 8 numbers, or of 16; returns how many that is.
DRAFTPROOF_AVX2 inline std::size_t avx2_powers_of_e(const float* x, std::size_t count, float* powers) {
  const std::size_t whole = count / 8 * 8;
  for (std::size_t i = 0; i < whole; i += 8)
    _mm256_storeu_ps(powers + i, detail::Powers256::exp_nonpositive(_mm256_loadu_ps(x + i)));
  return whole;
}
DRAFTPROOF_AVX512 inline std::size_t avx512_powers_of_e(const float* x, std::size_t count, float* powers) {
  const std::size_t whole = count / 16 * 16;
  for (std::size_t i = 0; i < whole; i += 16)
    _mm512_storeu_ps(powers + i, detail::Powers512::exp_nonpositive(_mm512_loadu_ps(x + i)));
  return whole;
}

DRAFTPROOF_AVX2 inline void avx2_scale(float* powers, std::size_t count, float factor, float least) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256 power = _mm256_loadu_ps(powers + i);
    const __m256 kept = _mm256_and_ps(power, _mm256_cmp_ps(power, _mm256_set1_ps(least), _CMP_GE_OQ));
    _mm256_storeu_ps(powers + i, _mm256_mul_ps(kept, _mm256_set1_ps(factor)));
  }
  for (; i < count; ++i) powers[i] = powers[i] >= least ? powers[i] * factor : 0;
}

DRAFTPROOF_AVX512 inline void avx512_scale(float* powers, std::size_t count, float factor, float least) {
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m512 power = _mm512_loadu_ps(powers + i);
    const __mmask16 kept = _mm512_cmp_ps_mask(power, _mm512_set1_ps(least), _CMP_GE_OQ);
    _mm512_storeu_ps(powers + i, _mm512_maskz_mul_ps(kept, power, _mm512_set1_ps(factor)));
  }
  for (; i < count; ++i) powers[i] = powers[i] >= least ? powers[i] * factor : 0;
}

}  // namespace draftproof::simd
#endif
