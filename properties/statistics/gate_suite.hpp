// The statistical gate for one pair (p, q): its counts of (path, token), its schedule, and the average of five
// e-values on the counts, with the cell that deviates most. Path k < K means that draft k was accepted; path K means
// that all were rejected.
//
//   p, q       target, proposal   q may be empty: there is then no grouping along p / q, and path groups follow p
//   c(k, x)    paths              probability that an exact verifier ends on path k with token x, K + 1 rows of V;
//                                 empty if unknown: the suite then has only the first three components below
//   tau        leak               declared rounding budget for cells that should be empty; at 0 a count there refutes
//   n          exposure           planned number of trials so far; batches have Poisson sizes (count_models.hpp)
//
//   tokens        e_table over all tokens
//   spikes        every token alone (log_e_single_cell)
//   groups        e_table over 32 groups along p / q, along p, along the id; averaged
//   paths         e_table over (path, token)
//   path groups   e_table over (path, group along p / q)
//
// e is the average of these components with equal weights. With tau > 0, e is 99/100 of this average plus 1/100 of the
// bet on impossible cells (log_e_impossible_cells). A suite is immutable: threads share one suite, and each has
// separate counts.
//
// Cost: docs/statistics.md has the time of one evaluation on one core.
//
// Correctness: if the verifier is exact, the probability that e ever reaches 1 / alpha is at most alpha, at any
// stopping time and under any rule for continuing (Ville's inequality for the non-negative martingale e over
// batches).
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include <draftproof/properties/statistics/e_table.hpp>

namespace draftproof {

// The counts of a gate: how often a trial ended on each path with each token. They are integers, so any order
// of merging gives the same result.

class GateCounts {
 public:
  /// A table of paths x vocabulary cells, all 0.
  GateCounts(std::size_t paths, std::size_t vocabulary) : vocabulary_{vocabulary}, cells_(paths * vocabulary) {}

  /// Adds `times` trials to the cell (path, token).
  void add(std::size_t path, std::size_t token, std::uint64_t times = 1) {
    cells_[path * vocabulary_ + token] += times;
  }

  /// Adds the counts of a table of the same shape.
  GateCounts& operator+=(const GateCounts& other) {
    assert(cells_.size() == other.cells_.size());
    for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i] += other.cells_[i];
    return *this;
  }

  std::size_t vocabulary() const { return vocabulary_; }
  std::size_t paths() const { return cells_.size() / vocabulary_; }
  /// Returns all counts, path by path.
  std::span<const std::uint64_t> cells() const { return cells_; }
  /// Returns the counts of path k, one for each token.
  std::span<const std::uint64_t> path(std::size_t k) const {
    return std::span{cells_}.subspan(k * vocabulary_, vocabulary_);
  }
  /// Returns the counts by token, summed over all paths.
  std::vector<std::uint64_t> tokens() const {
    std::vector<std::uint64_t> sums(vocabulary_);
    for (std::size_t i = 0; i < cells_.size(); ++i) sums[i % vocabulary_] += cells_[i];
    return sums;
  }
  /// Sets the counts of cells with `distribution[i] == 0` to 0 and returns their sum.
  std::uint64_t take_impossible(std::span<const double> distribution) {
    assert(distribution.size() == cells_.size());
    std::uint64_t taken = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i)
      if (distribution[i] == 0) {
        taken += cells_[i];
        cells_[i] = 0;
      }
    return taken;
  }
  /// The counters that are added over shards of a run.
  static auto fields(auto& counts) { return std::tie(counts.cells_); }

 private:
  std::size_t vocabulary_;
  std::vector<std::uint64_t> cells_;
};

// When a gate evaluates its counts, when it stops, and its final state. Each batch doubles the number of
// trials. The gate may evaluate the e-value after each batch, and may continue because the e-value is large. Both keep
// the bound on false alarms without a correction, by Ville's inequality.
//
//   budget                     planned number of trials
//   log e < log 1e2            ok
//   up to log 1e5              watch
//   up to the threshold        suspicious
//   from the threshold on      failed: the gate stops
//
// A gate that is not ok at the budget continues, up to 16 times the budget, while it is not ok. With an exact
// verifier a gate ever leaves the state ok with probability at most 1/100 (Ville), so the expected cost is below 1.15
// budgets. A gate that ends as watch or suspicious is undecided, which is not a pass. Thresholds are from
// error_budget.hpp.

enum class GateState { ok, watch, suspicious, failed };

/// Returns the state as printed in reports.
constexpr std::string_view name(GateState state) {
  constexpr std::string_view names[] = {"ok", "watch", "suspicious", "failed"};
  return names[static_cast<int>(state)];
}

class GateSchedule {
 public:
  static constexpr double log_watch = 4.605170185988091;        ///< log 1e2
  static constexpr double log_suspicious = 11.512925464970229;  ///< log 1e5
  static constexpr std::uint64_t escalation = 16;

  /// `first` and `budget` in trials. Requires 0 < first <= budget and log_threshold > log 1e5.
  GateSchedule(std::uint64_t first, std::uint64_t budget, double log_threshold)
      : first_{first}, budget_{budget}, log_threshold_{log_threshold} {}

  /// Returns the planned size of the next batch in trials, 0 if the gate has ended. The batch runs
  /// poisson_count(next()) trials.
  std::uint64_t next() const {
    if (state_ == GateState::failed) return 0;
    if (exposure_ < budget_) return std::min(std::max(first_, exposure_), budget_ - exposure_);
    if (state_ == GateState::ok) return 0;
    return std::min(exposure_, escalation * budget_ - exposure_);
  }

  /// Records that the batch of size next() has run; `log_e` is log e of all counts so far.
  void observe(double log_e) {
    exposure_ += next();
    if (state_ != GateState::failed) state_ = state_of(log_e);
  }

  /// Returns the planned number of trials so far.
  std::uint64_t exposure() const { return exposure_; }
  GateState state() const { return state_; }
  /// Whether the gate has ended as watch or suspicious.
  bool undecided() const { return next() == 0 && state_ != GateState::ok && state_ != GateState::failed; }

 private:
  GateState state_of(double log_e) const {
    if (log_e >= log_threshold_) return GateState::failed;
    if (log_e >= log_suspicious) return GateState::suspicious;
    return log_e >= log_watch ? GateState::watch : GateState::ok;
  }

  std::uint64_t first_, budget_;
  double log_threshold_;
  std::uint64_t exposure_ = 0;
  GateState state_ = GateState::ok;
};

/// The distribution of an exact verifier. A probability may be 0 only if it is 0 in exact arithmetic, because a
/// rare count in a cell rounded to 0 would be a false proof.
struct GateNull {
  std::vector<double> target;
  std::vector<double> proposal{};
  std::vector<std::vector<double>> paths{};
  double leak = 0;
};

/// One of the e-values of which the suite's e is a weighted average.
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
  int path;  ///< -1 if the path distribution is unknown
  std::size_t token;
  std::uint64_t observed;
  double expected, log_e;
  /// Returns observed over expected count.
  double ratio() const { return static_cast<double>(observed) / expected; }
};

class GateSuite {
 public:
  /// Requires a proposal of the target's size or an empty one, and paths of the target's size or none.
  explicit GateSuite(GateNull null);

  /// Returns an all-zero table of the shape that evidence() and worst_cell() require.
  GateCounts empty_counts() const;
  /// Returns log e of the suite and of its components on all counts so far. `exposure` is the planned number of trials
  /// so far.
  GateEvidence evidence(const GateCounts& counts, double exposure) const;
  /// Returns the worst cell of these counts. It computes 10 bets per cell, so it is meant for reports and not for every
  /// batch.
  WorstCell worst_cell(const GateCounts& counts, double exposure) const;

 private:
  bool has_paths() const { return !null_.paths.empty(); }
  std::vector<std::uint64_t> path_groups_of(const GateCounts& counts) const;

  GateNull null_;
  std::vector<double> flat_paths_;  ///< rows of null_.paths one after the other
  /// Group of every token, for up to three groupings: along p / q if q is known, along p, along the id.
  std::vector<std::vector<std::uint32_t>> groups_;
  ETable tokens_;
  std::vector<ETable> group_tables_;
  std::vector<ETable> path_tables_;  ///< empty, or the tables of the components paths and path groups
};

}  // namespace draftproof
