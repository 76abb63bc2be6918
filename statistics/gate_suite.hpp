// The statistical gate for one pair (p, q): the average of five e-values on the counts of (path, token), and the cell
// that deviates most. Path k < K means that draft k was accepted; path K means that all were rejected.
//
//   p, q       target, proposal   may be empty: there is no grouping along p / q then, and path groups follow p
//   c(k, x)    paths              probability that an exact verifier ends on path k with token x, K + 1 rows of V;
//                                 empty if unknown: the suite then has its first three components
//   tau        leak               declared rounding budget for cells that should be empty; at 0 a count is a proof
//   n          exposure           planned number of trials so far; a batch's are Poisson (poisson_count.hpp)
//
//   tokens        e_table over all tokens
//   spikes        every token alone (e_single_cell.hpp)
//   groups        e_table over 32 groups along p / q, along p, along the id; averaged
//   paths         e_table over (path, token)
//   path groups   e_table over (path, group along p / q)
//
// log e is that of the average with equal weights. With tau > 0 the bet on impossible cells (impossible_cells.hpp)
// has weight 1/100 beside 99/100. A suite is immutable: threads share one suite, and each has its own counts.
//
// Cost: of one evaluation on one core, see docs/statistics.md.
//
// Correctness: if the verifier is exact, the probability that e ever reaches 1 / alpha is at most alpha, at any
// stopping time and under any rule for continuing (Ville's inequality for the non-negative martingale e over
// batches).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <draftproof/statistics/e_table.hpp>
#include <draftproof/statistics/gate_counts.hpp>

namespace draftproof {

/// The law of an exact verifier. A probability may be 0 only if it is 0 in exact arithmetic: a probability rounded to
/// 0 turns a rare count into a false proof.
struct GateNull {
  std::vector<double> target;
  std::vector<double> proposal{};
  std::vector<std::vector<double>> paths{};
  double leak = 0;
};

/// One of the e-values that are averaged.
struct GateComponent {
  std::string_view name;
  double log_e, weight;
  bool of_cells = false;  ///< whether the evidence comes from (path, token) cells, so that a worst cell can be shown
};

/// log e of the suite and of each component.
struct GateEvidence {
  double log_e = 0;
  std::vector<GateComponent> components;
};

/// The cell with the largest single-cell e-value.
struct WorstCell {
  int path;  ///< -1 if the path law is unknown
  std::size_t token;
  std::uint64_t observed;
  double expected, log_e;
  /// Observed over expected count.
  double ratio() const { return static_cast<double>(observed) / expected; }
};

class GateSuite {
 public:
  /// Requires a proposal of the target's size or an empty one, and paths of the target's size or none.
  explicit GateSuite(GateNull null);

  /// An all-zero table of the shape that evidence() and worst_cell() expect.
  GateCounts empty_counts() const;
  /// The evidence of all counts so far; `exposure` is the planned number of trials.
  GateEvidence evidence(const GateCounts& counts, double exposure) const;
  /// The worst cell of these counts. Costs 10 bets a cell: for reports, not for every batch.
  WorstCell worst_cell(const GateCounts& counts, double exposure) const;

 private:
  bool has_paths() const { return !null_.paths.empty(); }
  std::vector<std::uint64_t> path_groups_of(const GateCounts& counts) const;

  GateNull null_;
  std::vector<double> flat_paths_;                  ///< rows of null_.paths one after the other
  std::vector<std::vector<std::uint32_t>> groups_;  ///< by p / q if q is known, by p, by id
  ETable tokens_;
  std::vector<ETable> group_tables_;
  std::vector<ETable> path_tables_;  ///< none, or paths and path groups
};

}  // namespace draftproof
