// A view of a ladder's plan for one table: the addresses of its arrays, so that it can be a kernel argument. One
// thread decides a trial with it, on the host or on a device; the arrays lie in the memory of either.
//
//   bins       by token, -1 where q = 0                                     [V]
//   slope      of each bin                                                  [n]
//   levels     distinct levels, and the range maxima of ranks               [m], [n log n]
//   residual   alias table of (p - p_I)+                                    [V]
//
// Cost: O(K) look-ups a trial.
// Correctness: the arrays are those of the plan, and the same code reads them (verifiers/ladder.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <draftproof/sim/distributions/ratio_bins.hpp>
#include <draftproof/sim/distributions/ratio_table_view.hpp>
#include <draftproof/sim/sampling/alias_table.hpp>
#include <draftproof/verifiers/ladder/levels.hpp>

namespace draftproof {

/// The levels of a ladder by the addresses of their arrays.
struct LevelsView {
  ListView<double> distinct;
  RangeSearch ranks;

  using Interval = std::uint32_t;
  template <class R>
  DRAFTPROOF_DEVICE Interval draw(R& random) const {
    return static_cast<Interval>(random.pick(LevelIntervals<double, ListView<double>>{distinct}));
  }
  DRAFTPROOF_DEVICE bool together(int top, int bin, Interval u) const {
    return bin == top || ranks.of(top + 1, bin + 1) <= u;
  }
};

/// Draws from an alias table; draws no token from an empty one.
struct AliasView {
  const std::uint64_t* cells;
  const std::uint32_t* rests;
  std::size_t size;

  DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const {
    return size == 0 ? no_token : alias_draw(cells, rests, size, word);
  }
  /// Does nothing: a view only draws, and exploration uses the table.
  template <class Visit>
  DRAFTPROOF_DEVICE void for_each(Visit) const {}
};

/// The plan of a ladder by the addresses of its arrays.
struct LadderView {
  const int* bins;
  const double* slope;
  LevelsView levels;
  AliasView residual;
  bool nothing_left;

  DRAFTPROOF_DEVICE const LadderView& core() const { return *this; }
  DRAFTPROOF_DEVICE int bin(const TableView&, Token x) const { return bins[x]; }
  DRAFTPROOF_DEVICE double selected(const TableView& laws, Token x) const {
    const double q = laws.proposal(x);
    return q > 0 ? q * slope[bins[x]] : 0.0;
  }
};

/// A view of a table with the calls that plans need. Host only, where plans are made.
struct PlanningView : TableView {
  explicit PlanningView(const TableView& view) : TableView{view} {}

  TokenBins<double> bins() const {
    std::size_t skipped = 0;
    while (skipped < ratios.size && !(proposal(order()[skipped]) > 0)) ++skipped;
    return {*this, std::vector<Token>(order() + skipped, order() + ratios.size),
            std::span(prefix() + skipped, ratios.size + 1 - skipped)};
  }
  int bin(const TokenBins<double>& bins, Token x) const { return bins.of(x); }
  template <class F>
  auto alias_weights(F f) const {
    std::vector<double> values;
    for (Token x = 0; x < vocabulary(); ++x) values.push_back(f(x));
    return AliasWeights(std::move(values));
  }
};

/// Verifiers whose plan for a table has view(place), which can be a kernel argument.
template <class V>
concept ViewsPlans = requires {
  typename V::TablePlan;
};

}  // namespace draftproof
