// The arrays that a table uses to draw from one of its proposals: cumulative sums with their guide, and alias cells.
//
//   below    running sums of the masses by token                            [V + 1]
//   guide    for each cell of sums, the token of its first sum              [cells + 1]
//   cells    own masses and other tokens, with `rests`                      [V] (alias_lists.cuh)
//
// Cost: two running sums, and a bisection per token and per cell.
// Correctness: sums are integers, and a guide's entry is the first token whose sum exceeds the beginning of the cell,
// which CumulativeTable finds by a linear scan.
#pragma once

#include <cstdint>

#include <draftproof/gpu/tables/alias_lists.cuh>

namespace draftproof::gpu {

struct WriteMasses {
  FixedRows fixed;
  int row;
  std::uint64_t vocabulary;
  SumPair* sums;

  std::uint64_t work() const { return vocabulary; }
  template <Grid G>
  DRAFTPROOF_DEVICE void operator()(const G& grid) const {
    const FixedRow own = fixed.row(row);
    for_places(grid, vocabulary, [&](std::uint64_t x) { sums[x] = {own.mass(static_cast<Token>(x)), 0}; });
  }
};

struct WriteBelow {
  const SumPair* sums;
  std::uint64_t vocabulary;
  std::uint64_t* below;

  std::uint64_t work() const { return vocabulary + 1; }
  template <Grid G>
  DRAFTPROOF_DEVICE void operator()(const G& grid) const {
    for_places(grid, vocabulary + 1, [this](std::uint64_t x) { below[x] = x == 0 ? 0 : sums[x - 1].first; });
  }
};

/// Writes the guide; cells beyond all sums get the last token.
struct GuideSums {
  const std::uint64_t* below;
  std::uint64_t vocabulary, size;
  std::uint32_t* guide;
  int shift;

  std::uint64_t work() const { return size; }
  template <Grid G>
  DRAFTPROOF_DEVICE void operator()(const G& grid) const {
    for_places(grid, size, [this](std::uint64_t cell) {
      guide[cell] = static_cast<std::uint32_t>(
          bisected(0, vocabulary - 1, [&](std::size_t x) { return below[x + 1] <= cell << shift; }));
    });
  }
};

/// Memory for building one table.
struct TableSpace {
  TableSpace(Places& places, std::size_t vocabulary, std::size_t scratch)
      : sort(places, vocabulary, scratch), sums{places.take<SumPair>(vocabulary)}, lists(places, vocabulary) {}

  SortSpace sort;
  SumPair* sums;
  AliasLists lists;
};

/// Builds the arrays for draws from proposal k.
template <class Machine>
void build_draws(Machine& machine, const FixedRows& fixed, int k, const TableArrays& out, TableSpace& space) {
  const TableArrays::Proposal& own = out.proposals[k];
  const std::size_t vocabulary = out.vocabulary;
  machine.each(WriteMasses{fixed, 1 + k, vocabulary, space.sums});
  machine.running_sums(space.sort, space.sums, vocabulary);
  machine.each(WriteBelow{space.sums, vocabulary, own.below});
  machine.each(GuideSums{own.below, vocabulary, out.guide_size(), own.guide, out.shift});
  machine.each(MarkSmall{fixed, 1 + k, vocabulary, space.sums});
  machine.running_sums(space.sort, space.sums, vocabulary);
  machine.each(ListTokens{space.sums, own.below, vocabulary, space.lists});
  machine.each(FillCells{space.sums, vocabulary, space.lists, own.cells, own.rests});
}

}  // namespace draftproof::gpu
