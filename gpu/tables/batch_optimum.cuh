// The i.i.d. optimum of the positions of a turn (a part of a batch): sorts the tokens of all positions together,
// forms running sums over all of them, and finds the least cut of each position.
//
//   symbol      code         meaning
//   v(P, Q)     cut_value    cut of the tokens that remain: 1 + (1 - P) - (1 - Q)^K (sim/numeric/sums.hpp)
//   (P_j, Q_j)  prefix       masses of a position's first j tokens by falling p / q, integers
//   best        RunBest      least v of a run, the least j that attains it, and the number of tokens with p or q
//
// Cost: two stable sorts of all tokens, by ratio and then by position (one sort for one position), a gather and a
// running sum; then one read of the sums per number of drafts. One sort per position would leave most of a device
// idle or launch a sort's kernels for each position; one sort of a turn is limited by memory bandwidth.
// Correctness: values are formed by the host's operations from the host's integers. The least value, and the first cut
// of those with this value, do not depend on the order of the threads. The cuts of no token and of all tokens have the
// value 1.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include <draftproof/gpu/tables/ratio_keys.cuh>
#include <draftproof/sim/numeric/cut_bound.hpp>
#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof::gpu {

struct RunBest {
  std::uint64_t value;   ///< complement of the bits of v >= 0, so the greatest `value` has the least v
  std::uint64_t cut;     ///< complement of j
  std::uint64_t tokens;  ///< number of tokens with p > 0 or q > 0
};

/// The initial best, before any cut: only a cut with v below 1 replaces it.
DRAFTPROOF_DEVICE inline RunBest no_cut() { return {~bit_cast<std::uint64_t>(1.0), 0, 0}; }

DRAFTPROOF_DEVICE inline double not_a_number() { return bit_cast<double>(std::uint64_t{0x7ff8} << 48); }

struct FindBests {
  Turn turn;
  const SumPair* sums;
  RunBest* bests;  ///< [runs().size()]
  int drafts;

  DRAFTPROOF_DEVICE Runs runs() const { return {turn.positions, turn.vocabulary()}; }
  std::uint64_t work() const { return runs().work(); }
  template <Grid G>
  DRAFTPROOF_DEVICE void operator()(const G& grid) const {
    const Runs all = runs();
    for_runs(grid, all.size(), [&](std::uint64_t run) {
      const std::uint64_t row = all.row(run), start = row * turn.vocabulary(), before_row = row * row_total;
      RunBest own = no_cut();
      for (std::uint64_t j = all.begin(run) + static_cast<std::uint64_t>(grid.lane()); j < all.end(run);
           j += static_cast<std::uint64_t>(grid.lanes())) {
        const SumPair here = sums[start + j];
        const SumPair before = start + j == 0 ? SumPair{0, 0} : sums[start + j - 1];
        own.tokens += here.first != before.first || here.second != before.second;
        const double found =
            cut_value(probability(here.first - before_row), probability(here.second - before_row), drafts);
        // j rises and the comparison is strict, so of equal values the first is kept.
        if (const std::uint64_t value = ~bit_cast<std::uint64_t>(found); value > own.value)
          own = {value, ~(j + 1), own.tokens};
      }
      lane_greatest(grid, own.value, own.cut);
      own.tokens = grid.lane_sum(own.tokens);
      if (grid.lane() == 0) bests[run] = own;
    });
  }
};

/// Writes the optimum of each position from the RunBest of its runs: one warp per position.
struct JoinBests {
  Turn turn;
  const RunBest* bests;
  Optimum* optima;  ///< [turn.positions]

  std::uint64_t work() const { return std::uint64_t{turn.positions} * 32; }
  template <Grid G>
  DRAFTPROOF_DEVICE void operator()(const G& grid) const {
    const Runs runs{turn.positions, turn.vocabulary()};
    for_runs(grid, turn.positions, [&](std::uint64_t i) {
      RunBest own = no_cut();
      for (auto run = static_cast<std::uint64_t>(grid.lane()); run < runs.per_row();
           run += static_cast<std::uint64_t>(grid.lanes())) {
        const RunBest& other = bests[i * runs.per_row() + run];
        own.tokens += other.tokens;
        if (other.value > own.value) own = {other.value, other.cut, own.tokens};
      }
      lane_greatest(grid, own.value, own.cut);
      own.tokens = grid.lane_sum(own.tokens);
      if (grid.lane() != 0) return;
      Optimum found{1, static_cast<std::size_t>(own.tokens)};  // S empty
      if (own.value > no_cut().value) found = {bit_cast<double>(~own.value), static_cast<std::size_t>(~own.cut)};
      if (turn.fixed.rows.batch.refused(turn.first + static_cast<std::int64_t>(i))) found = {not_a_number(), 0};
      optima[i] = found;
    });
  }
};

/// Memory of a turn.
struct TurnSpace {
  TurnSpace(Places& places, std::size_t positions, std::size_t vocabulary, std::size_t scratch)
      : sort(places, positions * vocabulary, scratch),
        sums{places.take<SumPair>(positions * vocabulary)},
        bests{places.take<RunBest>(static_cast<std::size_t>(Runs{positions, vocabulary}.size()))} {}

  SortSpace sort;
  SumPair* sums;
  RunBest* bests;
};

/// Writes to space.numbers the tokens of the first position by falling ratio, then the tokens of the second, and so on.
template <class Machine>
void sort_turn(Machine& machine, const Turn& turn, SortSpace& space) {
  machine.each(KeyTokens{turn, space.keys, space.numbers});
  machine.sort(space, turn.places(), key_bits);
  if (turn.positions == 1) return;
  machine.each(KeyPositions{turn, space.keys, space.numbers});
  machine.sort(space, turn.places(), static_cast<int>(std::bit_width(turn.positions - 1)));
}

/// Writes optima[k * apart + i]: the optimum of drafts[k] drafts at the i-th position of the turn. Requires that
/// NoteRuns and RestOfRows (fixed_rows.cuh) have run on the rows.
template <class Machine>
void optima_of_turn(Machine& machine, const Turn& turn, TurnSpace space, std::span<const int> drafts, Optimum* optima,
                    std::int64_t apart) {
  sort_turn(machine, turn, space.sort);
  machine.each(GatherMasses{turn, space.sort.numbers, space.sums});
  machine.running_sums(space.sort, space.sums, turn.places());
  for (std::size_t k = 0; k < drafts.size(); ++k) {
    machine.each(FindBests{turn, space.sums, space.bests, drafts[k]});
    machine.each(JoinBests{turn, space.bests, optima + static_cast<std::int64_t>(k) * apart});
  }
}

}  // namespace draftproof::gpu
