// Walker's alias method with Vose's construction, in integers: one token from 64 random bits, almost always by
// reading one cache line.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/sim/simd/dispatch.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof::simd {

// Many draws from one alias table at a time: the cells of 4 (AVX2) or 8 (AVX-512) draws are gathered together, so
// that their cache misses overlap.
//
//   word        64 random bits; the 128 bits of the product word V are the index x of a cell (upper half) and the
//               offset in the cell (lower half)
//   cell x      upper 32 bits: the share of token x in the cell; lower 32 bits: the other token of the cell, its alias
//
// A draw gives x if the offset is below the share, else the alias. The upper 32 bits of offset and share are compared.
// If these are equal, which happens in one draw of 2^32, the caller compares all bits.
// Cost: three widening multiplications and a gather.
// Correctness: all operations are on integers, so the tokens are the same at every width. With word = h 2^32 + l, the
// product h V + (l V >> 32) has the cell's index above its 32 lower bits, which are the upper 32 bits of the offset.

/// Writes the tokens of `count` draws, `stride` apart in `out`; -1 if the compared bits are equal. Returns whether a
/// -1 was written.
inline bool alias_draws_scalar(const std::uint64_t* cells, std::uint32_t size, const std::uint64_t* words, int count,
                               Token* out, int stride) {
  bool open = false;
  for (int t = 0; t < count; ++t) {
    const std::uint64_t product = (words[t] >> 32) * size + ((words[t] & 0xffffffffu) * size >> 32);
    const std::uint64_t cell = cells[product >> 32], place = product & 0xffffffffu, share = cell >> 32;
    const auto taken = static_cast<std::uint32_t>(place < share ? product >> 32 : cell);
    out[t * stride] = place == share ? -1 : static_cast<Token>(taken);
    open |= place == share;
  }
  return open;
}

#if DRAFTPROOF_WIDE
DRAFTPROOF_AVX2 inline bool alias_draws_avx2(const std::uint64_t* cells, std::uint32_t size,
                                             const std::uint64_t* words, int count, Token* out, int stride) {
  const __m256i low = _mm256_set1_epi64x(0xffffffff), by = _mm256_set1_epi64x(size);
  alignas(32) std::int64_t tokens[4];
  __m256i ties = _mm256_setzero_si256();
  int t = 0;
  for (; t + 4 <= count; t += 4) {
    const __m256i word = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words + t));
    const __m256i product = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(word, 32), by),
                                             _mm256_srli_epi64(_mm256_mul_epu32(word, by), 32));
    const __m256i own = _mm256_srli_epi64(product, 32), place = _mm256_and_si256(product, low);
    const __m256i cell = _mm256_i64gather_epi64(reinterpret_cast<const long long*>(cells), own, 8);
    const __m256i share = _mm256_srli_epi64(cell, 32);
    const __m256i taken = _mm256_blendv_epi8(cell, own, _mm256_cmpgt_epi64(share, place));
    const __m256i tie = _mm256_cmpeq_epi64(share, place);
    ties = _mm256_or_si256(ties, tie);
    _mm256_store_si256(reinterpret_cast<__m256i*>(tokens), _mm256_or_si256(taken, tie));
    for (int i = 0; i < 4; ++i) out[(t + i) * stride] = static_cast<Token>(tokens[i]);
  }
  const bool rest = alias_draws_scalar(cells, size, words + t, count - t, out + t * stride, stride);
  return _mm256_testz_si256(ties, ties) == 0 || rest;
}

DRAFTPROOF_AVX512 inline bool alias_draws_avx512(const std::uint64_t* cells, std::uint32_t size,
                                                 const std::uint64_t* words, int count, Token* out, int stride) {
  const __m512i low = _mm512_set1_epi64(0xffffffff), by = _mm512_set1_epi64(size);
  const __m256i places = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(stride));
  __mmask8 ties = 0;
  int t = 0;
  for (; t + 8 <= count; t += 8) {
    const __m512i word = _mm512_loadu_si512(words + t);
    const __m512i product = _mm512_add_epi64(_mm512_mul_epu32(_mm512_srli_epi64(word, 32), by),
                                             _mm512_srli_epi64(_mm512_mul_epu32(word, by), 32));
    const __m512i own = _mm512_srli_epi64(product, 32), place = _mm512_and_si512(product, low);
    const __m512i cell = _mm512_i64gather_epi64(own, cells, 8);
    const __m512i share = _mm512_srli_epi64(cell, 32);
    const __m512i taken = _mm512_mask_blend_epi64(_mm512_cmplt_epu64_mask(place, share), cell, own);
    const __mmask8 tie = _mm512_cmpeq_epi64_mask(place, share);
    ties = static_cast<__mmask8>(ties | tie);
    const __m512i tokens = _mm512_mask_set1_epi64(taken, tie, -1);
    _mm256_i32scatter_epi32(out + t * stride, places, _mm512_cvtepi64_epi32(tokens), 4);
  }
  const bool rest = alias_draws_scalar(cells, size, words + t, count - t, out + t * stride, stride);
  return ties != 0 || rest;
}
#endif

/// Writes and returns the same as alias_draws_scalar, computed in registers of `width`.
inline bool alias_draws(Width width, const std::uint64_t* cells, std::uint32_t size, const std::uint64_t* words,
                        int count, Token* out, int stride) {
#if DRAFTPROOF_WIDE
  if (width == Width::avx512) return alias_draws_avx512(cells, size, words, count, out, stride);
  if (width == Width::avx2) return alias_draws_avx2(cells, size, words, count, out, stride);
#endif
  (void)width;
  return alias_draws_scalar(cells, size, words, count, out, stride);
}

}  // namespace draftproof::simd

namespace draftproof {

// One draw from an alias table given by addresses, in the host's or a device's memory.
//
//   cells[x]   upper 32 bits: share of token x in the cell in units of 2^-32; lower 32 bits: the other token
//   rests[x]   remaining 32 bits of the share, in units of 2^-64, read only if the upper 32 bits of share and offset
//              are equal
//
// Cost: almost always one read, of a cell.

DRAFTPROOF_DEVICE inline Token alias_draw(const std::uint64_t* cells, const std::uint32_t* rests, std::uint64_t size,
                                          std::uint64_t word) {
  const std::uint64_t at = scale(word, size);
  const std::uint64_t within = word * size;  // the offset in the cell, in units of 2^-64
  const std::uint64_t cell = cells[at], place = within >> 32, share = cell >> 32;
  const bool own = place == share ? static_cast<std::uint32_t>(within) < rests[at] : place < share;
  return static_cast<Token>(own ? at : cell & 0xffffffffu);
}

/// Draws from a quantised row. The shares in the table realise the row exactly; the 64 random bits of a draw add at
/// most V 2^-64 in total variation.
class AliasTable {
 public:
  explicit AliasTable(std::span<const std::uint64_t> mass) : cells_(mass.size()), rest_(mass.size()) {
    const std::uint64_t size = mass.size();
    __extension__ using Wide = unsigned __int128;
    std::vector<Wide> left(size);  // mass times V; a cell holds row_total
    std::vector<std::uint32_t> small, large;
    for (std::uint32_t x = 0; x < size; ++x) {
      left[x] = Wide{mass[x]} * size;
      (left[x] < row_total ? small : large).push_back(x);
    }
    while (!small.empty() && !large.empty()) {
      const std::uint32_t x = small.back(), donor = large.back();
      small.pop_back();
      set(x, static_cast<std::uint64_t>(left[x]) << 2, donor);
      left[donor] -= row_total - static_cast<std::uint64_t>(left[x]);
      if (left[donor] < row_total) {
        large.pop_back();
        small.push_back(donor);
      }
    }
    for (const std::uint32_t x : large) set(x, 0, x);  // a full cell: both of its tokens are x
  }

  Token draw(std::uint64_t word) const { return alias_draw(cells_.data(), rest_.data(), cells_.size(), word); }
  std::span<const std::uint64_t> cells() const { return cells_; }
  std::span<const std::uint32_t> rests() const { return rest_; }

  /// Writes one token for each of `words`, `stride` apart in `out`.
  void draw(std::span<const std::uint64_t> words, Token* out, int stride) const {
    const int count = static_cast<int>(words.size());
    if (simd::alias_draws(simd::in_use(), cells_.data(), static_cast<std::uint32_t>(cells_.size()), words.data(),
                          count, out, stride)) [[unlikely]]
      for (int t = 0; t < count; ++t)
        if (out[t * stride] < 0) out[t * stride] = draw(words[static_cast<std::size_t>(t)]);
  }

 private:
  /// `own` is the share of token x in cell x, in units of 2^-64. The upper half of `own` is stored in the cell, the
  /// lower half in `rest_`.
  void set(std::uint32_t x, std::uint64_t own, std::uint32_t other) {
    cells_[x] = (own >> 32 << 32) | other;
    rest_[x] = static_cast<std::uint32_t>(own);
  }

  std::vector<std::uint64_t> cells_;
  std::vector<std::uint32_t> rest_;
};

/// Weights for many draws: non-negative, not normalised. `total` is their sum; draw returns no_token if all are 0.
class AliasWeights {
 public:
  explicit AliasWeights(std::vector<double> values) : values_{std::move(values)} {
    for (const double value : values_) total_ += value;
    if (const auto shares = distribution(); !shares.empty()) table_.emplace(quantise(shares));
  }

  Token draw(std::uint64_t word) const { return table_ ? table_->draw(word) : no_token; }
  /// Returns the table, null if all weights are 0.
  const AliasTable* table() const { return table_ ? &*table_ : nullptr; }
  double weight(Token x) const { return values_[static_cast<std::size_t>(x)]; }
  double total() const { return total_; }
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t x = 0; x < values_.size(); ++x)
      if (values_[x] > 0) visit(static_cast<Token>(x), values_[x]);
  }
  template <class Visit>
  void for_each_realised(Visit visit) const {
    if (!table_) return;
    const auto mass = quantise(distribution());
    for (std::size_t x = 0; x < mass.size(); ++x)
      if (mass[x] > 0) visit(static_cast<Token>(x), probability(mass[x]));
  }

 private:
  /// Returns the normalised weights, no entries if all weights are 0.
  std::vector<double> distribution() const {
    std::vector<double> shares;
    if (total_ > 0)
      for (const double value : values_) shares.push_back(value / total_);
    return shares;
  }

  std::vector<double> values_;
  double total_ = 0;
  std::optional<AliasTable> table_;
};

}  // namespace draftproof
