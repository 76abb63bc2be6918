// Fills the cells of the host's alias table, all at once. Vose's construction handles one token after the other, but
// its state after any number of tokens follows from running sums, so each cell can be computed by a search.
//
//   symbol     code              meaning
//   u          row_total         capacity of a cell, 2^62
//   w(x)       V m(x)            weight of token x; x is small if w(x) < u, else large
//   S(a)       small_sums[a-1]   mass of the first a small tokens, from the last of the vocabulary down
//   L(b)       large_sums[b-1]   mass of the first b large tokens, in the same order
//   D(a)       a u - V S(a)      deficit of the first a small tokens
//   E(b)       V L(b) - b u      excess of the first b large tokens
//
// Cost: two running sums and a bisection per token.
// Source: the host's construction (sim/sampling/alias_table.hpp) with two stacks; the sums are those of
// Huebschle-Schneider and Sanders, 2019, arXiv:1903.00227.
// Correctness: the host's stacks return small and large tokens in this order. A large token whose weight falls below u
// is the next small token, and the next large token fills its cell, so its deficit passes on exactly. Hence the b-th
// large token fills cells while E(b) covers the deficit so far: the cell of small token a is filled by the large token
// with the least b for which E(b) >= D(a - 1). Large token b fills cells up to the least a with D(a) > E(b); it keeps
// u + E(b) - D(a), and large token b + 1 fills the rest of its cell. After all tokens D and E are equal, because the
// row sums to u exactly. Products have 128 bits.
#pragma once

#include <cstdint>

#include <draftproof/gpu/tables/ratio_keys.cuh>
#include <draftproof/gpu/tables/table_arrays.hpp>

namespace draftproof::gpu {

__extension__ using Wide = unsigned __int128;

/// Whether token x with this mass is small, in a row of V tokens.
DRAFTPROOF_DEVICE inline bool lacks_mass(std::uint64_t mass, std::uint64_t vocabulary) {
  return Wide{mass} * vocabulary < row_total;
}

/// The small and the large tokens of a row, each in falling order, with running sums of their masses.
struct AliasLists {
  std::uint64_t *small_sums, *large_sums;  ///< [V] each
  std::uint32_t *small_tokens, *large_tokens;

  AliasLists(Places& places, std::size_t vocabulary)
      : small_sums{places.take<std::uint64_t>(vocabulary)},
        large_sums{places.take<std::uint64_t>(vocabulary)},
        small_tokens{places.take<std::uint32_t>(vocabulary)},
        large_tokens{places.take<std::uint32_t>(vocabulary)} {}
};

/// Writes for each token, by falling id, the pair (1, mass) if the token is small, otherwise (0, 0).
struct MarkSmall {
  FixedRows fixed;
  int row;
  std::uint64_t vocabulary;
  SumPair* sums;

  std::uint64_t work() const { return vocabulary; }
  template <Grid G>
  DRAFTPROOF_DEVICE void operator()(const G& grid) const {
    const FixedRow own = fixed.row(row);
    for_places(grid, vocabulary, [&](std::uint64_t i) {
      const std::uint64_t mass = own.mass(static_cast<Token>(vocabulary - 1 - i));
      sums[i] = lacks_mass(mass, vocabulary) ? SumPair{1, mass} : SumPair{0, 0};
    });
  }
};

/// Writes every token to its list; `sums` are the running sums of MarkSmall's output.
struct ListTokens {
  const SumPair* sums;
  const std::uint64_t* below;
  std::uint64_t vocabulary;
  AliasLists lists;

  std::uint64_t work() const { return vocabulary; }
  template <Grid G>
  DRAFTPROOF_DEVICE void operator()(const G& grid) const {
    for_places(grid, vocabulary, [this](std::uint64_t i) {
      const std::uint64_t x = vocabulary - 1 - i;
      const auto [smalls, small_mass] = sums[i];
      if (smalls != (i == 0 ? 0 : sums[i - 1].first)) {
        lists.small_tokens[smalls - 1] = static_cast<std::uint32_t>(x);
        lists.small_sums[smalls - 1] = small_mass;
      } else {
        const std::uint64_t place = i - smalls;
        lists.large_tokens[place] = static_cast<std::uint32_t>(x);
        lists.large_sums[place] = row_total - below[x] - small_mass;
      }
    });
  }
};

/// Fills the cells of all tokens: one thread per entry of either list.
struct FillCells {
  const SumPair* sums;
  std::uint64_t vocabulary;
  AliasLists lists;
  std::uint64_t* cells;
  std::uint32_t* rests;

  std::uint64_t work() const { return vocabulary; }
  template <Grid G>
  DRAFTPROOF_DEVICE void operator()(const G& grid) const {
    const std::uint64_t smalls = sums[vocabulary - 1].first;
    for_places(grid, vocabulary, [&](std::uint64_t i) {
      if (i < smalls)
        fill_small(i, vocabulary - smalls);
      else
        fill_large(i - smalls, smalls);
    });
  }

 private:
  // The difference of V (L + S) and u times the number of tokens in both sums is E - D.
  DRAFTPROOF_DEVICE Wide brought(std::uint64_t masses) const { return Wide{masses} * vocabulary; }
  DRAFTPROOF_DEVICE static Wide held(std::uint64_t tokens) { return Wide{tokens} << 62; }

  /// Fills the cell of small token number `a`, from 0, in the order of the list.
  DRAFTPROOF_DEVICE void fill_small(std::uint64_t a, std::uint64_t larges) const {
    const std::uint64_t before = a == 0 ? 0 : lists.small_sums[a - 1];
    const std::uint64_t mass = lists.small_sums[a] - before;
    const std::size_t donor =
        bisected(0, larges, [&](std::size_t b) { return brought(lists.large_sums[b] + before) < held(b + 1 + a); });
    set(lists.small_tokens[a], mass * vocabulary, lists.large_tokens[donor]);
  }
  /// Fills the cell of large token number `b`, from 0, in the order of the list.
  DRAFTPROOF_DEVICE void fill_large(std::uint64_t b, std::uint64_t smalls) const {
    const std::uint64_t x = lists.large_tokens[b], through = lists.large_sums[b];
    const std::size_t end = bisected(
        0, smalls, [&](std::size_t a) { return brought(through + lists.small_sums[a]) >= held(a + 1 + b + 1); });
    if (end == smalls) return set(x, 0, x);  // full: both sides are x
    const Wide left = brought(through + lists.small_sums[end]) - held(end + 1 + b);
    set(x, static_cast<std::uint64_t>(left), lists.large_tokens[b + 1]);
  }
  /// Writes the cell of token x: x gets `own` units of 2^-62 of the cell, and `other` the rest.
  DRAFTPROOF_DEVICE void set(std::uint64_t x, std::uint64_t own, std::uint64_t other) const {
    const std::uint64_t share = own << 2;
    cells[x] = (share >> 32 << 32) | other;
    rests[x] = static_cast<std::uint32_t>(share);
  }
};

}  // namespace draftproof::gpu
