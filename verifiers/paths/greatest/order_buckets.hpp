// Buckets of p / q that order the tokens of fresh rows: intervals of the ratio's bits as a float, like RatioBuckets
// (ratio_buckets.hpp), but so few that a team of a device's threads can keep two sums for each.
//
//   r        ratio(p, q)          float(p / q), divided in float if the entries are no longer than float
//   of       of(r)                0 .. count - 1, rising with r; the top one also has r = inf and tokens with q = 0
//   [b, e)   begin(i), end(i)     floats r of bucket i; the outer buckets extend to 0 and to inf
//
// There are sixteen buckets an octave: with coarser buckets more tokens would be ordered by id instead of p / q; finer
// buckets would cover fewer octaves. Compared with the order of p / q itself, the acceptance of two or four drafts is
// lower by at most 0.0016 if p and q are 0.1 nats apart, and by less than 0.001 if they are 0.3 nats or more apart (V =
// 1,000 and 32,000, exact).
//
// Correctness: for float entries, divisions in float and in double give the same bucket (ratio_buckets.hpp).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <draftproof/sim/device/bounded_list.hpp>
#include <draftproof/sim/device/host_device.hpp>
#include <draftproof/sim/distributions/ratio_bins.hpp>
#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/simd/dispatch.hpp>
#include <draftproof/sim/simd/ratio_histogram.hpp>

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
  /// Whether a token of this ratio is in the bucket; NaN, from 0 / 0, is in the top bucket.
  DRAFTPROOF_DEVICE static bool within(float ratio, int bucket) {
    return !(ratio < begin(bucket)) && (bucket == count - 1 || ratio < end(bucket));
  }

 private:
  static constexpr float infinity = std::numeric_limits<float>::infinity();
};

// A strict order of the tokens at a node, used both to choose a path and to compute the distribution of the choice.
//
//   z < y         order            single tokens: lower p / q, or the same and a higher id (ratio_bins.hpp)
//                                  distributions in buckets: a lower bucket (order_buckets.hpp), or the same and a
//                                  higher id
//   q(z < y)      order.below(y)   mass of the tokens below y; order.total(): of all tokens
//
// Cost: O(1) per call. For distributions in buckets, each mass takes a pass (greatest_row.hpp).
// Source: Thomas and Pal, arXiv:2602.16961; any strict order will do.

/// How an object refers to distributions: by value on a device, else by reference.
template <class L>
using DistributionsRef = std::conditional_t<OnDevice<L>, L, const L&>;

/// The order for distributions without a ranking: by buckets of p / q. Requires that `distributions` outlives this
/// object.
template <class L>
class TokenOrder {
 public:
  DRAFTPROOF_DEVICE explicit TokenOrder(const L& distributions) : distributions_{distributions} {}

  /// Whether x is above y in the order; both can be drafted.
  DRAFTPROOF_DEVICE bool above(Token x, Token y) const {
    const std::size_t a = bucket(x), b = bucket(y);
    return a > b || (a == b && x < y);
  }

 private:
  DRAFTPROOF_DEVICE std::size_t bucket(Token x) const {
    return OrderBuckets::of(distributions_.target(x), distributions_.proposal(x));
  }

  DistributionsRef<L> distributions_;
};

template <Ranked L>
class TokenOrder<L> {
 public:
  using Scalar = typename L::Scalar;
  using Ranking = decltype(std::declval<const L&>().ranking());

  explicit TokenOrder(const L& distributions) : ranking_{distributions.ranking()} {}

  bool above(Token x, Token y) const { return ranking_.of(x) < ranking_.of(y); }
  Scalar below(Token x) const { return ranking_.proposal(ranking_.of(x) + 1, ranking_.size()); }
  Scalar total() const { return ranking_.proposal(0, ranking_.size()); }
  const Ranking& ranking() const { return ranking_; }

 private:
  Ranking ranking_;
};

}  // namespace draftproof

namespace draftproof::simd {

// Passes that compare the ratio p / q of each token with bounds: masses below a ratio, and lists of the tokens
// between two ratios.
//
//   r                OrderBuckets::ratio(p, q)   as a float, for rows of any type
//   below, total     MassBelow                   sums of to_fixed(q) over the tokens with r < bound, and over all
//   within           within(r, bucket)           tokens of a bucket, their ids in ascending order
//
// Cost: a division and two comparisons per token, sixteen at a time in 512-bit registers on rows of float, eight in
// 256-bit ones; otherwise one token at a time, without branches.
// Correctness: at every width quotients round as they do one by one, and masses are added as integers. The product 2^60
// q is exact in float, so its truncation is the same, too.

struct MassBelow {
  Fixed below = 0, total = 0;
};

#if DRAFTPROOF_WIDE
namespace detail {
DRAFTPROOF_AVX2 inline MassBelow avx2_mass_below(const float* p, const float* q, std::size_t start, std::size_t end,
                                                 float bound) {
  const __m256 limit = _mm256_set1_ps(bound);
  __m256i below = _mm256_setzero_si256(), total = below;
  for (; start < end; start += 8) {
    const __m256 b = _mm256_loadu_ps(q + start);
    const __m256i less =
        _mm256_castps_si256(_mm256_cmp_ps(_mm256_div_ps(_mm256_loadu_ps(p + start), b), limit, _CMP_LT_OQ));
    const __m256i bits = _mm256_castps_si256(b);
    for (int half = 0; half < 2; ++half) {
      const __m128i four = half == 0 ? _mm256_castsi256_si128(bits) : _mm256_extracti128_si256(bits, 1);
      const __m128i mask = half == 0 ? _mm256_castsi256_si128(less) : _mm256_extracti128_si256(less, 1);
      const __m256i units = fixed_of(_mm256_cvtepu32_epi64(four));
      below = _mm256_add_epi64(below, _mm256_and_si256(units, _mm256_cvtepi32_epi64(mask)));
      total = _mm256_add_epi64(total, units);
    }
  }
  alignas(32) Fixed sums[2][4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(sums[0]), below);
  _mm256_store_si256(reinterpret_cast<__m256i*>(sums[1]), total);
  return {sums[0][0] + sums[0][1] + sums[0][2] + sums[0][3], sums[1][0] + sums[1][1] + sums[1][2] + sums[1][3]};
}

DRAFTPROOF_AVX2 inline std::size_t avx2_tokens_within(const float* p, const float* q, std::size_t start,
                                                      std::size_t end, int bucket, Token* tokens) {
  const __m256 least = _mm256_set1_ps(OrderBuckets::begin(bucket)), most = _mm256_set1_ps(OrderBuckets::end(bucket));
  const unsigned open = bucket == OrderBuckets::count - 1 ? 0xFF : 0;
  std::size_t found = 0;
  for (; start < end; start += 8) {
    const __m256 ratio = _mm256_div_ps(_mm256_loadu_ps(p + start), _mm256_loadu_ps(q + start));
    const auto upto = static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(ratio, most, _CMP_LT_OQ))) | open;
    auto here = upto & static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(ratio, least, _CMP_NLT_UQ)));
    for (; here != 0; here &= here - 1)
      tokens[found++] = static_cast<Token>(start + static_cast<unsigned>(std::countr_zero(here)));
  }
  return found;
}

DRAFTPROOF_AVX512 inline MassBelow avx512_mass_below(const float* p, const float* q, std::size_t start,
                                                     std::size_t end, float bound) {
  const __m512 limit = _mm512_set1_ps(bound), unit = _mm512_set1_ps(0x1p60f);
  __m512i below = _mm512_setzero_si512(), total = below;
  for (; start < end; start += 16) {
    const __m512 b = _mm512_loadu_ps(q + start);
    const __mmask16 less = _mm512_cmp_ps_mask(_mm512_div_ps(_mm512_loadu_ps(p + start), b), limit, _CMP_LT_OQ);
    const __m512 units = _mm512_mul_ps(b, unit);
    const __m512i low = _mm512_cvttps_epi64(_mm512_castps512_ps256(units));
    const __m512i high = _mm512_cvttps_epi64(_mm512_extractf32x8_ps(units, 1));
    below = _mm512_mask_add_epi64(below, static_cast<__mmask8>(less), below, low);
    below = _mm512_mask_add_epi64(below, static_cast<__mmask8>(less >> 8), below, high);
    total = _mm512_add_epi64(total, _mm512_add_epi64(low, high));
  }
  return {_mm512_reduce_add_epi64(below), _mm512_reduce_add_epi64(total)};
}

/// `tokens` needs space for 16 entries more than the tokens found.
DRAFTPROOF_AVX512 inline std::size_t avx512_tokens_within(const float* p, const float* q, std::size_t start,
                                                          std::size_t end, int bucket, Token* tokens) {
  const __m512 least = _mm512_set1_ps(OrderBuckets::begin(bucket)), most = _mm512_set1_ps(OrderBuckets::end(bucket));
  const __mmask16 open = bucket == OrderBuckets::count - 1 ? 0xFFFF : 0;
  __m512i ids = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(start)),
                                 _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
  std::size_t found = 0;
  for (; start < end; start += 16, ids = _mm512_add_epi32(ids, _mm512_set1_epi32(16))) {
    const __m512 ratio = _mm512_div_ps(_mm512_loadu_ps(p + start), _mm512_loadu_ps(q + start));
    const __mmask16 upto = static_cast<__mmask16>(_mm512_cmp_ps_mask(ratio, most, _CMP_LT_OQ) | open);
    const __mmask16 here = _mm512_mask_cmp_ps_mask(upto, ratio, least, _CMP_NLT_UQ);
    if (here == 0) continue;
    _mm512_storeu_si512(tokens + found, _mm512_maskz_compress_epi32(here, ids));
    found += static_cast<std::size_t>(std::popcount(static_cast<unsigned>(here)));
  }
  return found;
}
}  // namespace detail
#endif

/// Masses of the tokens start .. end - 1.
template <class Entry>
MassBelow mass_below(const Entry* p, const Entry* q, std::size_t start, std::size_t end, float bound,
                     [[maybe_unused]] Width width = in_use()) {
  MassBelow mass;
#if DRAFTPROOF_WIDE
  if constexpr (std::is_same_v<Entry, float>)
    if (width != Width::scalar) {
      const std::size_t whole = start + (end - start) / 16 * 16;
      mass = width == Width::avx512 ? detail::avx512_mass_below(p, q, start, whole, bound)
                                    : detail::avx2_mass_below(p, q, start, whole, bound);
      start = whole;
    }
#endif
  for (; start < end; ++start) {
    const Fixed own = to_fixed(static_cast<double>(q[start]));
    mass.below += OrderBuckets::ratio(p[start], q[start]) < bound ? own : 0;
    mass.total += own;
  }
  return mass;
}

/// Lists the tokens start .. end - 1 that are in the bucket, and returns their number. `tokens` needs space for 16
/// entries more than this number.
template <class Entry>
std::size_t tokens_within(const Entry* p, const Entry* q, std::size_t start, std::size_t end, int bucket,
                          Token* tokens, [[maybe_unused]] Width width = in_use()) {
  std::size_t found = 0;
#if DRAFTPROOF_WIDE
  if constexpr (std::is_same_v<Entry, float>)
    if (width != Width::scalar) {
      const std::size_t whole = start + (end - start) / 16 * 16;
      found = width == Width::avx512 ? detail::avx512_tokens_within(p, q, start, whole, bucket, tokens)
                                     : detail::avx2_tokens_within(p, q, start, whole, bucket, tokens);
      start = whole;
    }
#endif
  for (; start < end; ++start) {
    tokens[found] = static_cast<Token>(start);
    found += static_cast<std::size_t>(OrderBuckets::within(OrderBuckets::ratio(p[start], q[start]), bucket));
  }
  return found;
}

/// Computes a strip of terms by term.fill(p, q, below, terms) and adds them as integers; compiled again for wider
/// registers, like strips.hpp.
namespace detail {
template <class Term>
[[gnu::always_inline]] inline Fixed fill_and_sum(const Term& term, const double* p, const double* q,
                                                 const double* below, double* terms) {
  term.fill(p, q, below, terms);
  Fixed sum = 0;
  for (std::size_t i = 0; i < Term::strip; ++i) sum += to_fixed(terms[i]);
  return sum;
}
#if DRAFTPROOF_WIDE
template <class Term>
DRAFTPROOF_AVX2 DRAFTPROOF_WHOLE Fixed avx2_terms(const Term& term, const double* p, const double* q,
                                                  const double* below, double* terms) {
  return fill_and_sum(term, p, q, below, terms);
}
template <class Term>
DRAFTPROOF_AVX512 DRAFTPROOF_WHOLE Fixed avx512_terms(const Term& term, const double* p, const double* q,
                                                      const double* below, double* terms) {
  return fill_and_sum(term, p, q, below, terms);
}
#endif
}  // namespace detail
template <class Term>
Fixed strip_of_terms(const Term& term, const double* p, const double* q, const double* below, double* terms,
                     [[maybe_unused]] Width width = in_use()) {
#if DRAFTPROOF_WIDE
  if (width == Width::avx512) return detail::avx512_terms(term, p, q, below, terms);
  if (width == Width::avx2) return detail::avx2_terms(term, p, q, below, terms);
#endif
  return detail::fill_and_sum(term, p, q, below, terms);
}

}  // namespace draftproof::simd
