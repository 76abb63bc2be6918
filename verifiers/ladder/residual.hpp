// The residual (c p - q slope)+ of a target and the distribution of the draft that a ladder selected, on fresh rows:
// its sum and draws from it.
//
//   slope    by_bucket_               selected distribution over q for every bucket of p / q
//   total    total()                  one pass, which stores a partial sum per block
//   token    draw(word)               the same pass, and one block again
//   without  leave_out(seen, n)       tokens that do not count
//
// Cost: one pass, whose sums are kept for the life of the object.
// Correctness: it adds the same integers as weights(f) of the same function, in the same order of tokens. The
// integers of tokens left out are subtracted, so nothing is left where all tokens are left out.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/numeric/ratio_buckets.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/sim/simd/block_sums.hpp>
#include <draftproof/sim/simd/residual_terms.hpp>

namespace draftproof::simd {

// The residual of a target and the distribution of a selected token, as a term of passes (block_sums.hpp).
//
//   c           scale             factor of the target, 1 if a single token is verified
//   slope       slope[bucket]     selected distribution over q of the tokens in each bucket of p / q, 0 in the
//                                 outside one
//   one(i)      (c p - q slope)+  of token i; load4(i), load8(i) as in residual_terms.hpp
//
// Cost: a division and a look-up in 8 KiB per token.
// Correctness: at every width buckets are those of RatioBuckets, and products and difference round as in one(i).

/// Rows of float are read in wide registers, other rows token by token.
template <class Row>
struct LeftTerm {
  Row p, q;
  const double* slope;
  double scale;

  static constexpr bool floats = std::is_same_v<Row, Reader<float>>;
  static constexpr bool wide() { return floats; }
  void fetch(std::size_t) const {}  // no prefetch, because most passes in AVX-512 read copies in the cache
  double one(std::size_t i) const {
    const double target = p.one(i), proposal = q.one(i);
    const std::size_t bucket = proposal > 0 ? RatioBuckets::of(target, proposal) : RatioBuckets::outside;
    return std::max(scale * target - proposal * slope[bucket], 0.0);
  }

#if DRAFTPROOF_WIDE
  DRAFTPROOF_AVX2_PART __m256d load4(std::size_t i) const requires floats {
    const __m128 target = _mm_loadu_ps(p.first + i), proposal = _mm_loadu_ps(q.first + i);
    const __m128 drafted = _mm_cmp_ps(proposal, _mm_setzero_ps(), _CMP_GT_OQ), out = _mm_set1_ps(float_of(end));
    __m128 ratio = _mm_div_ps(target, _mm_blendv_ps(out, proposal, drafted));
    ratio = _mm_min_ps(_mm_max_ps(ratio, _mm_set1_ps(float_of(lowest))), _mm_set1_ps(float_of(end - 1)));
    const __m128i bits = _mm_castps_si128(_mm_blendv_ps(out, ratio, drafted));
    const __m128i bucket = _mm_sub_epi32(_mm_srli_epi32(bits, RatioBuckets::shift), _mm_set1_epi32(first_step));
    const __m256d all = _mm256_castsi256_pd(_mm256_set1_epi64x(-1));
    const __m256d slopes = _mm256_mask_i32gather_pd(_mm256_setzero_pd(), slope, bucket, all, 8);
    const __m256d left = _mm256_sub_pd(_mm256_mul_pd(_mm256_set1_pd(scale), _mm256_cvtps_pd(target)),
                                       _mm256_mul_pd(_mm256_cvtps_pd(proposal), slopes));
    return _mm256_mul_pd(_mm256_max_pd(left, _mm256_setzero_pd()), _mm256_set1_pd(unit));
  }
  DRAFTPROOF_AVX512_PART __m512d load8(std::size_t i) const requires floats {
    const __m256 target = _mm256_loadu_ps(p.first + i), proposal = _mm256_loadu_ps(q.first + i);
    const __mmask8 drafted = _mm256_cmp_ps_mask(proposal, _mm256_setzero_ps(), _CMP_GT_OQ);
    __m256 ratio = _mm256_maskz_div_ps(drafted, target, proposal);
    ratio = _mm256_max_ps(ratio, _mm256_set1_ps(float_of(lowest)));
    ratio = _mm256_mask_min_ps(_mm256_set1_ps(float_of(end)), drafted, ratio, _mm256_set1_ps(float_of(end - 1)));
    const __m256i bits = _mm256_castps_si256(ratio);
    const __m256i bucket =
        _mm256_sub_epi32(_mm256_srli_epi32(bits, RatioBuckets::shift), _mm256_set1_epi32(first_step));
    const __m512d slopes = _mm512_mask_i32gather_pd(_mm512_setzero_pd(), __mmask8{0xFF}, bucket, slope, 8);
    const __m512d left = _mm512_sub_pd(_mm512_mul_pd(_mm512_set1_pd(scale), _mm512_cvtps_pd(target)),
                                       _mm512_mul_pd(_mm512_cvtps_pd(proposal), slopes));
    return _mm512_mul_pd(_mm512_max_pd(left, _mm512_setzero_pd()), _mm512_set1_pd(unit));
  }
  // Never called, because wide() is false.
  DRAFTPROOF_AVX2_PART __m256d load4(std::size_t) const { return _mm256_setzero_pd(); }
  DRAFTPROOF_AVX512_PART __m512d load8(std::size_t) const { return _mm512_setzero_pd(); }
#endif

 private:
  static constexpr std::uint32_t lowest = RatioBuckets::lowest_bits, end = RatioBuckets::end_bits;
  static constexpr int first_step = static_cast<int>(lowest >> RatioBuckets::shift);
  static float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }
};

// The pass over the residual of a target and the distribution of a selected draft (LeftTerm), which is 0 for most
// tokens. Tokens with a ratio in `nothing` have residual 0 and are skipped before their slopes are looked up.
//
//   nothing   [from, to)         ratios p / q with residual 0; may be empty
//   partial   partial[i]         sum of to_fixed(term) over block i; the total is returned
//
// Correctness: skipped terms are 0, so all sums equal the results of simd::sums, bit by bit. The test is made in float
// and keeps every token that rounding could affect; where products underflow, the term is far below 2^-60.

/// Ratios [from, to) that leave no residual.
struct RatioSpan {
  float from = 0, to = 0;
};

#if DRAFTPROOF_WIDE
namespace detail {
/// Copies the pairs (p, q) of a block whose ratio is outside `nothing`, and returns their number. The lists need space
/// for 16 entries more than `count`.
DRAFTPROOF_AVX512 inline std::size_t keep_ratios(const float* p, const float* q, std::size_t count, RatioSpan nothing,
                                                 float* kept_p, float* kept_q) {
  const __m512 from = _mm512_set1_ps(nothing.from), to = _mm512_set1_ps(nothing.to);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; i += 16) {
    const __mmask16 there = count - i < 16 ? static_cast<__mmask16>((1u << (count - i)) - 1) : __mmask16{0xFFFF};
    const __m512 target = _mm512_maskz_loadu_ps(there, p + i), proposal = _mm512_maskz_loadu_ps(there, q + i);
    const __mmask16 above = _mm512_cmp_ps_mask(target, _mm512_mul_ps(from, proposal), _CMP_GE_OQ);
    const __mmask16 inside = _mm512_mask_cmp_ps_mask(above, target, _mm512_mul_ps(to, proposal), _CMP_LT_OQ);
    const auto pass = static_cast<__mmask16>(there & ~inside);
    _mm512_storeu_ps(kept_p + kept, _mm512_maskz_compress_ps(pass, target));
    _mm512_storeu_ps(kept_q + kept, _mm512_maskz_compress_ps(pass, proposal));
    kept += static_cast<std::size_t>(std::popcount(static_cast<unsigned>(pass)));
  }
  return kept;
}
}  // namespace detail
#endif

template <class Row>
Fixed left_sums(const LeftTerm<Row>& term, std::size_t size, [[maybe_unused]] RatioSpan nothing, Fixed* partial,
                Width width = in_use()) {
#if DRAFTPROOF_WIDE
  if constexpr (LeftTerm<Row>::floats)
    if (width == Width::avx512 && nothing.from < nothing.to) {
      float p[block + 16], q[block + 16];
      nothing.from *= 1 + 0x1p-20f;  // covers two roundings of 2^-24
      nothing.to *= 1 - 0x1p-20f;
      Fixed total = 0;
      for (std::size_t start = 0; start < size; start += block) {
        const std::size_t count = std::min(block, size - start);
        const std::size_t kept =
            detail::keep_ratios(term.p.first + start, term.q.first + start, count, nothing, p, q);
        total += * partial++ = sum(LeftTerm<Row>{{p}, {q}, term.slope, term.scale}, 0, kept, width);
      }
      return total;
    }
#endif
  return sums(term, size, partial, width);
}

}  // namespace draftproof::simd

namespace draftproof {

/// Distributions that expose an engine's rows and count the entries that are read.
template <class L>
concept ShowsRows = requires(const L& distributions) {
  distributions.target_row();
  distributions.proposal_row();
  distributions.count_visited(std::size_t{});
};

/// The residual on one pair of rows. `bins` are in buckets; `bins`, `slope` and the distributions must outlive this.
template <ShowsRows L, class Bins>
class LadderLeft {
 public:
  LadderLeft(const L& distributions, const Bins& bins, const std::vector<double>& slope, double scale)
      : distributions_{&distributions},
        target_{distributions.target_row()},
        proposal_{distributions.proposal_row()},
        bins_{&bins},
        slope_{&slope},
        scale_{scale} {}

  /// Sets the weights of the n distinct tokens at `seen`, which must outlive this, to 0. To be called before the pass.
  void leave_out(const Token* seen, int n) { seen_ = seen, n_ = n; }

  /// Residual mass; makes the pass.
  double total() const { return from_fixed(pass()); }
  /// Residual at token x.
  double weight(Token x) const {
    fill();
    return among(x, seen_, n_) ? 0.0 : term().one(static_cast<std::size_t>(x));
  }
  /// The token drawn from the residual by 64 random bits; no_token if it is empty.
  Token draw(std::uint64_t word) const {
    const Fixed total = pass();
    if (total <= 0) return no_token;
    auto left = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(total)));
    const std::size_t block = simd::find_block(partial_.data(), left) * simd::block;
    const std::size_t end = std::min(block + simd::block, target_.size());
    distributions_->count_visited(end - block);
    if (n_ == 0) return static_cast<Token>(simd::find(term(), block, end, left));
    auto x = static_cast<Token>(block);
    while ((left -= to_fixed(weight(x))) >= 0) ++x;
    return x;
  }
  /// Calls `visit(x, weight)` for each token x with a positive residual.
  template <class Visit>
  void for_each(Visit visit) const {
    fill();
    for (Token x = 0; x < distributions_->vocabulary(); ++x)
      if (const double left = weight(x); left > 0) visit(x, left);
  }
  /// Calls `visit` with the weights that draws realise, multiples of 2^-60.
  template <class Visit>
  void for_each_realised(Visit visit) const {
    for_each([&visit](Token x, double weight) {
      if (const Fixed served = to_fixed(weight); served > 0) visit(x, from_fixed(served));
    });
  }

 private:
  using Row = decltype(std::declval<const L&>().target_row());
  using Reader = simd::Reader<typename Row::value_type>;

  simd::LeftTerm<Reader> term() const { return {{target_.data()}, {proposal_.data()}, by_bucket_.data(), scale_}; }
  void fill() const {
    if (!by_bucket_.empty()) return;
    by_bucket_.resize(RatioBuckets::count + 1);  // the last stays 0, for the tokens that cannot be drafted
    for (std::size_t bucket = 0; bucket < RatioBuckets::count; ++bucket)
      by_bucket_[bucket] = (*slope_)[static_cast<std::size_t>(bins_->of_bucket(bucket))];
  }
  Fixed pass() const {
    if (!partial_.empty()) return total_;
    fill();
    partial_.resize((target_.size() + simd::block - 1) / simd::block);
    distributions_->count_visited(target_.size());
    total_ = simd::left_sums(term(), target_.size(), nothing_left(), partial_.data());
    for (int i = 0; i < n_; ++i) {
      const auto x = static_cast<std::size_t>(seen_[i]);
      const Fixed gone = to_fixed(term().one(x));
      partial_[x / simd::block] -= gone;
      total_ -= gone;
    }
    return total_;
  }
  /// Returns the longest run of buckets with c p <= slope q. The largest p / q in a bucket is the float before its
  /// end, so the gap is at least half a last bit, 2^-25: more than all rounding errors.
  simd::RatioSpan nothing_left() const {
    int from = 0, to = 0;
    for (int bucket = 0, first = 0; bucket < RatioBuckets::count - 1; ++bucket) {
      if (by_bucket_[static_cast<std::size_t>(bucket)] < scale_ * RatioBuckets::end(bucket) * (1 - 0x1p-26))
        first = bucket + 1;
      else if (bucket + 1 - first > to - from)
        from = first, to = bucket + 1;
    }
    return {static_cast<float>(RatioBuckets::begin(from)), static_cast<float>(RatioBuckets::begin(to))};
  }

  const L* distributions_;
  Row target_, proposal_;
  const Bins* bins_;
  const std::vector<double>* slope_;
  double scale_;
  const Token* seen_ = nullptr;
  int n_ = 0;
  mutable std::vector<double> by_bucket_;
  mutable std::vector<Fixed> partial_;
  mutable Fixed total_ = 0;
};

}  // namespace draftproof
