// The statistical gate for one pair (p, q): five e-values on the counts of (path, token), averaged, and the name of
// the cell that deviates most. Path k < K means "draft k was accepted", path K "all were rejected".
//
//   p, q       target, proposal   q may be empty: what needs p / q is left out or takes p as key
//   c(k, x)    paths              probability that an exact verifier ends on path k with token x, K + 1 rows of V;
//                                 none where it is not known: the suite then has its first three components
//   tau        leak               declared rounding budget for cells that should be empty; 0: a count there is a
//   proof n          exposure           planned number of trials so far; a batch's are Poisson (poisson_count.hpp)
//
//   tokens        e_table over all tokens
//   spikes        every token alone (e_single_cell.hpp)
//   groups        e_table over 32 groups along p / q, along p, along the id; averaged
//   paths         e_table over (path, token)
//   path groups   e_table over (path, group along p / q)
//
// log e is that of the average with equal weights; with tau > 0 the leak bet (leak.hpp) has weight 1/100 beside
// 99/100. Cost of one evaluation on one core: docs/statistics.md. Immutable: threads share one suite, each counts for
// itself.
//
// If the verifier is exact, the probability that e ever reaches 1 / alpha is at most alpha, whenever one looks and
// however one decides to go on (Ville's inequality for the non-negative martingale that e is over batches).
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

/// What an exact verifier does. A probability is 0 only if it is 0 in exact arithmetic: one that was rounded to 0
/// turns a rare count into a false proof.
struct GateNull {
  std::vector<double> target;
  std::vector<double> proposal{};
  std::vector<std::vector<double>> paths{};
  double leak = 0;
};

struct GateComponent {
  std::string_view name;
  double log_e, weight;
  bool of_cells = false;  ///< evidence of (path, token) cells, one of which can be shown
};

struct GateEvidence {
  double log_e = 0;
  std::vector<GateComponent> components;
};

/// The cell with the largest e-value of its own.
struct WorstCell {
  int path;  ///< -1 where the path law is not known
  std::size_t token;
  std::uint64_t observed;
  double expected, log_e;
  double ratio() const { return static_cast<double>(observed) / expected; }
};

class GateSuite {
 public:
  explicit GateSuite(GateNull null);

  /// Counts of the shape that `empty_counts` has.
  GateCounts empty_counts() const;
  GateEvidence evidence(const GateCounts& counts, double exposure) const;
  /// 10 bets a cell: for reports, not for every batch.
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
