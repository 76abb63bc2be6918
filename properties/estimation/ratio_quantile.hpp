// Drafts by inverse distribution function over tokens in the order of p / q. Close points give drafts that accept
// rules treat alike, so evenly spread points give evenly spread acceptance.
//
//   x_j      order_[j]     tokens with q > 0, p / q descending, equal ratios by id
//   S_j      below_[j]     q-mass of the first j of them in units of 2^-62
//   draw                   x_j with S_j <= word S / 2^64 < S_(j + 1)
//   without                the same on the line without the intervals of seen tokens
//
// Cost: one sort and a guide table; O(1) expected a draw, O(n log n) with n seen tokens.
//
// Error: masses are rounded from doubles. The law drawn is within 2^-53 of the table's in total variation.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/random/uniform_source.hpp>

namespace draftproof {

class RatioQuantile {
 public:
  RatioQuantile(const RatioTable& table, int proposal) {
    std::vector<KeyedToken> keyed;
    for (Token x = 0; x < table.vocabulary(); ++x)
      if (const double q = table.proposal(x, proposal); q > 0) keyed.push_back({table.target(x) / q, x});
    sort_by_key(keyed);
    place_.resize(static_cast<std::size_t>(table.vocabulary()));
    below_.push_back(0);
    for (const auto& [ratio, x] : keyed) {
      place_[static_cast<std::size_t>(x)] = static_cast<std::uint32_t>(order_.size());
      order_.push_back(x);
      below_.push_back(below_.back() + static_cast<std::uint64_t>(table.proposal(x, proposal) * 0x1p62));
    }
    const auto cells = std::bit_ceil(std::max<std::size_t>(2, order_.size()));
    for (std::uint64_t cell = 0, j = 0; cell <= cells; ++cell) {
      const std::uint64_t start = cell == cells ? below_.back() - 1 : scale(cell << shift(cells), below_.back());
      while (below_[j + 1] <= start) ++j;
      guide_.push_back(static_cast<std::uint32_t>(j));
    }
  }

  /// The token at word / 2^64.
  Token draw(std::uint64_t word) const {
    const std::uint64_t cell = word >> shift(guide_.size() - 1);
    return find(scale(word, below_.back()), guide_[cell], guide_[cell + 1]);
  }

  /// A token other than the n distinct seen ones, each with q > 0; no_token if none is left.
  Token draw_without(const Token* seen, int n, std::uint64_t word) const {
    std::array<std::uint32_t, max_drafts> cut;
    std::uint64_t left = below_.back();
    for (int i = 0; i < n; ++i) {
      const std::uint32_t j = place_[static_cast<std::size_t>(seen[i])];
      left -= below_[j + 1] - below_[j];
      cut[static_cast<std::size_t>(i)] = j;
    }
    if (n == static_cast<int>(order_.size()) || left == 0) return no_token;
    std::sort(cut.begin(), cut.begin() + n);
    std::uint64_t at = scale(word, left);
    for (int i = 0; i < n && below_[cut[static_cast<std::size_t>(i)]] <= at; ++i) {
      const std::uint32_t j = cut[static_cast<std::size_t>(i)];
      at += below_[j + 1] - below_[j];
    }
    return find(at, 0, static_cast<std::uint32_t>(order_.size() - 1));
  }

 private:
  /// Number of low bits of a word after those that select its guide cell.
  static int shift(std::size_t cells) { return 64 - (static_cast<int>(std::bit_width(cells)) - 1); }

  /// The token whose interval contains `at`; its place is in [low, high].
  Token find(std::uint64_t at, std::uint32_t low, std::uint32_t high) const {
    const auto first = below_.begin() + low + 1, last = below_.begin() + high + 1;
    return order_[static_cast<std::size_t>(std::upper_bound(first, last, at) - below_.begin() - 1)];
  }

  std::vector<Token> order_;
  std::vector<std::uint32_t> place_, guide_;
  std::vector<std::uint64_t> below_;
};

}  // namespace draftproof
