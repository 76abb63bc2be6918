// Builds a ratio table from one position's rows in place: its arrays have the bits of RatioTable on the host.
//
//   array            made by                          from
//   order, ratios    a stable sort                    p / q
//   masses           running sums in that order       p and q
//   probabilities    a pass                           p and every q
//   below, cells     running sums, bisections         every q (draw_arrays.cuh)
//   likeliest        a stable sort                    q as given
//   hot              a stable sort                    p
//   start            a bisection per cell             ratios
//
// Cost: three sorts of V tokens, one running sum, and two more running sums per proposal.
// Correctness: the integers equal those that quantise() makes on the host. Every other entry is one conversion or one
// division of these integers, or the result of a search in them, and is formed by a function of the host if there is
// one.
#pragma once

#include <cstdint>

#include <draftproof/gpu/tables/batch_optimum.cuh>
#include <draftproof/gpu/tables/draw_arrays.cuh>

namespace draftproof::gpu {

/// Counts the tokens with p > 0 or q > 0 in each run of a row (grid.hpp).
struct CountTokens {
  Turn turn;
  std::uint64_t* counts;  ///< [number of runs of a row]

  DRAFTPROOF_DEVICE Runs runs() const { return {1, turn.vocabulary()}; }
  std::uint64_t work() const { return runs().work(); }
  template <Grid G>
  DRAFTPROOF_DEVICE void operator()(const G& grid) const {
    const Runs all = runs();
    for_runs(grid, all.size(), [&](std::uint64_t run) {
      std::uint64_t own = 0;
      for (std::uint64_t x = all.begin(run) + static_cast<std::uint64_t>(grid.lane()); x < all.end(run);
           x += static_cast<std::uint64_t>(grid.lanes())) {
        const auto [p, q] = turn.masses(static_cast<std::uint32_t>(x));
        own += (p | q) != 0;
      }
      own = grid.lane_sum(own);
      if (grid.lane() == 0) counts[run] = own;
    });
  }
};

/// Writes tokens and ratios from the sorted keys, and masses from the running sums; entry n has masses only.
struct WriteOrder {
  const std::uint64_t* keys;
  const std::uint32_t* sorted;
  const SumPair* sums;
  TableArrays out;

  std::uint64_t work() const { return out.tokens + 1; }
  template <Grid G>
  DRAFTPROOF_DEVICE void operator()(const G& grid) const {
    for_places(grid, out.tokens + 1, [this](std::uint64_t j) {
      const SumPair before = j == 0 ? SumPair{0, 0} : sums[j - 1];
      out.masses[j] = {probability(before.first), probability(before.second)};
      if (j == out.tokens) return;
      out.order[j] = static_cast<Token>(sorted[j]);
      out.ratios[j] = of_falling(keys[j]);
    });
  }
};

struct GuideRatios {
  TableArrays out;

  std::uint64_t work() const { return out.cells + 1; }
  template <Grid G>
  DRAFTPROOF_DEVICE void operator()(const G& grid) const {
    for_places(grid, out.cells + 1, [this](std::uint64_t cell) {
      out.start[cell] = static_cast<std::uint32_t>(bisected(
          0, out.tokens, [&](std::size_t j) { return RatioSearch::cell_of(out.ratios[j], out.cells) > cell; }));
    });
  }
};

/// Writes the probabilities of one row, interleaved by token.
struct WriteProbabilities {
  FixedRows fixed;
  int row;
  std::uint64_t vocabulary, apart;
  double* out;

  std::uint64_t work() const { return vocabulary; }
  template <Grid G>
  DRAFTPROOF_DEVICE void operator()(const G& grid) const {
    const FixedRow own = fixed.row(row);
    for_places(grid, vocabulary,
               [&](std::uint64_t x) { out[x * apart] = probability(own.read(static_cast<Token>(x))); });
  }
};

/// Writes every token with a key that sorts by falling probability. The probability is the entry of the row as given
/// if `given`, otherwise the table's.
struct KeyProbabilities {
  FixedRows fixed;
  int row;
  bool given;
  std::uint64_t vocabulary;
  std::uint64_t* keys;
  std::uint32_t* tokens;

  std::uint64_t work() const { return vocabulary; }
  template <Grid G>
  DRAFTPROOF_DEVICE void operator()(const G& grid) const {
    const FixedRow own = fixed.row(row);
    for_places(grid, vocabulary, [&](std::uint64_t x) {
      const float entry = own.entries[x] > 0 ? own.entries[x] : 0;  // -0 counts as 0
      keys[x] = falling(given ? static_cast<double>(entry) : probability(own.read(static_cast<Token>(x))));
      tokens[x] = static_cast<std::uint32_t>(x);
    });
  }
};

/// Writes the first `count` of the sorted tokens and, unless `slot` is null, the index of every token among them.
struct TakeTokens {
  const std::uint32_t* sorted;
  std::uint64_t vocabulary, count;
  Token* taken;
  std::uint16_t* slot;

  std::uint64_t work() const { return vocabulary; }
  template <Grid G>
  DRAFTPROOF_DEVICE void operator()(const G& grid) const {
    for_places(grid, vocabulary, [this](std::uint64_t j) {
      if (j < count) taken[j] = static_cast<Token>(sorted[j]);
      if (slot != nullptr) slot[sorted[j]] = j < count ? static_cast<std::uint16_t>(j) : HotTokens::cold;
    });
  }
};

/// Sorts the tokens by `keys` and writes the first `count`.
template <class Machine>
void take_tokens(Machine& machine, const KeyProbabilities& keys, SortSpace& space, std::size_t count, Token* taken,
                 std::uint16_t* slot) {
  const std::size_t vocabulary = keys.vocabulary;
  machine.each(keys);
  machine.sort(space, vocabulary, key_bits);
  machine.each(TakeTokens{space.numbers, vocabulary, count, taken, slot});
}

/// Writes the table of a turn that has one position. Requires that its rows are valid, that NoteRuns and RestOfRows
/// (fixed_rows.cuh) have run on them, and that out.tokens is the number of tokens with p > 0 or q > 0.
template <class Machine>
void build_table(Machine& machine, const Turn& turn, const TableArrays& out, TableSpace& space) {
  sort_turn(machine, turn, space.sort);
  machine.each(GatherMasses{turn, space.sort.numbers, space.sums});
  machine.running_sums(space.sort, space.sums, out.vocabulary);
  machine.each(WriteOrder{space.sort.keys, space.sort.numbers, space.sums, out});
  machine.each(GuideRatios{out});
  for (int row = 0; row <= static_cast<int>(out.rows); ++row)
    machine.each(WriteProbabilities{turn.fixed, row, out.vocabulary, 1 + out.rows, out.probabilities + row});
  const auto by = [&](int row, bool given) {
    return KeyProbabilities{turn.fixed, row, given, out.vocabulary, space.sort.keys, space.sort.numbers};
  };
  take_tokens(machine, by(1, true), space.sort, out.likeliest_size, out.likeliest, nullptr);
  take_tokens(machine, by(0, false), space.sort, out.hot_size, out.hot_tokens, out.slot);
  for (int k = 0; k < static_cast<int>(out.rows); ++k) build_draws(machine, turn.fixed, k, out, space);
}

}  // namespace draftproof::gpu
