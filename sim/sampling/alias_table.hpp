// Walker's alias method in Vose's construction, in integers: one token from one word, and almost always one cache
// line.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/sampling/alias_gather.hpp>
#include <draftproof/sim/sampling/quantised_row.hpp>

namespace draftproof {

// One draw from the cells of an alias table by their addresses: the host's vectors and a device's memory are read by
// the same operations.
//
//   cells[x]   share of the cell's own token in 2^-32, above the other token
//   rests[x]   the rest of that share in 2^-64, read by ties only
//
// Cost: one cell, almost always.

DRAFTPROOF_DEVICE inline Token alias_draw(const std::uint64_t* cells, const std::uint32_t* rests, std::uint64_t size,
                                          std::uint64_t word) {
  const std::uint64_t at = scale(word, size);
  const std::uint64_t within = word * size;  // the fraction of the cell, in 2^-64
  const std::uint64_t cell = cells[at], place = within >> 32, share = cell >> 32;
  const bool own = place == share ? static_cast<std::uint32_t>(within) < rests[at] : place < share;
  return static_cast<Token>(own ? at : cell & 0xffffffffu);
}

/// Draws from a quantised row. The law of the table is exactly the row; the grid of the 64-bit word adds at most
/// V 2^-64 in total variation.
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
    for (const std::uint32_t x : large) set(x, 0, x);  // full: both sides are x
  }

  Token draw(std::uint64_t word) const { return alias_draw(cells_.data(), rest_.data(), cells_.size(), word); }
  std::span<const std::uint64_t> cells() const { return cells_; }
  std::span<const std::uint32_t> rests() const { return rest_; }

  /// The tokens of many words, `stride` apart in `out`.
  void draw(std::span<const std::uint64_t> words, Token* out, int stride) const {
    const int count = static_cast<int>(words.size());
    if (simd::alias_draws(simd::in_use(), cells_.data(), static_cast<std::uint32_t>(cells_.size()), words.data(),
                          count, out, stride)) [[unlikely]]
      for (int t = 0; t < count; ++t)
        if (out[t * stride] < 0) out[t * stride] = draw(words[static_cast<std::size_t>(t)]);
  }

 private:
  /// `own` is the share of the cell's own token, in 2^-64. Its upper half is stored beside the other token, its lower
  /// half where only ties read it.
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
    if (const auto shares = law(); !shares.empty()) table_.emplace(quantise(shares));
  }

  Token draw(std::uint64_t word) const { return table_ ? table_->draw(word) : no_token; }
  /// Null if all weights are 0.
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
    const auto mass = quantise(law());
    for (std::size_t x = 0; x < mass.size(); ++x)
      if (mass[x] > 0) visit(static_cast<Token>(x), probability(mass[x]));
  }

 private:
  /// The normalised weights; empty if none is positive.
  std::vector<double> law() const {
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
