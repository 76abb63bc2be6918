// The layout of the arrays of a ratio table in one piece of memory, on a device or on the host: one allocation per
// table, one copy from one side to the other.
//
//   symbol    code              meaning
//   V         vocabulary        tokens
//   M         rows              proposals
//   n         tokens            tokens with p or q: entries of the order
//   cells     cells, shift      sizes of the guides, as RatioGuide and CumulativeTable choose them
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <draftproof/gpu/tables/grid.hpp>
#include <draftproof/gpu/tables/trial_counts.cuh>
#include <draftproof/sim/distributions/ratio_table_view.hpp>

namespace draftproof::gpu {

struct TableArrays {
  struct Proposal {
    std::uint64_t *cells, *below;
    std::uint32_t *rests, *guide;
  };

  TableArrays(void* memory, std::size_t vocabulary_, std::size_t rows_, std::size_t tokens_)
      : vocabulary{vocabulary_},
        rows{rows_},
        tokens{tokens_},
        cells{std::bit_ceil(tokens_ + 1)},
        shift{62 - static_cast<int>(std::bit_width(vocabulary_))},
        likeliest_size{std::min<std::size_t>(vocabulary_, max_drafts)},
        hot_size{std::min<std::size_t>(vocabulary_, HotTokens::most)} {
    Places places(memory);
    probabilities = places.take<double>(vocabulary * (1 + rows));
    ratios = places.take<double>(tokens);
    masses = places.take<TableMass>(tokens + 1);
    order = places.take<Token>(tokens);
    likeliest = places.take<Token>(likeliest_size);
    start = places.take<std::uint32_t>(cells + 1);
    hot_tokens = places.take<Token>(hot_size);
    slot = places.take<std::uint16_t>(vocabulary);
    for (std::size_t k = 0; k < rows; ++k)
      proposals[k] = {places.take<std::uint64_t>(vocabulary), places.take<std::uint64_t>(vocabulary + 1),
                      places.take<std::uint32_t>(vocabulary), places.take<std::uint32_t>(guide_size())};
    bytes = places.bytes();
  }

  std::size_t guide_size() const { return (std::size_t{1} << (62 - shift)) + 1; }

  TableView view() const {
    TableView view;
    view.size = static_cast<int>(vocabulary);
    view.rows = static_cast<int>(rows);
    view.probabilities = probabilities;
    view.tokens = order;
    view.masses = masses;
    view.likeliest = likeliest;
    view.ratios = {ratios, tokens, start, cells};
    for (std::size_t k = 0; k < rows; ++k) {
      const Proposal& own = proposals[k];
      view.proposals[k] = {own.cells, own.rests, {own.below, vocabulary + 1, own.guide, shift}};
    }
    return view;
  }
  HotTokens hot() const { return {static_cast<int>(hot_size), hot_tokens, slot}; }

  std::size_t vocabulary, rows, tokens, cells;
  int shift;
  std::size_t likeliest_size, hot_size;
  double* probabilities;  ///< [V, 1 + M]: p and the M proposals of each token
  double* ratios;         ///< [n], where n is `tokens`
  TableMass* masses;      ///< [n + 1]
  Token* order;           ///< [n]
  Token* likeliest;       ///< the most probable tokens of the first q
  std::uint32_t* start;   ///< [cells + 1]
  Token* hot_tokens;      ///< the most probable tokens of p
  std::uint16_t* slot;    ///< [V]
  Proposal proposals[max_drafts];
  std::size_t bytes;  ///< size of the memory
};

}  // namespace draftproof::gpu
