// Measures after how many trials the statistical gate raises its alarm, for one wrong program and several seeds.
//
//   exposure    planned trials of the batches run when e reached 1e9; batches double from 16, so it is a power of two
//               up to the budget
//   median      of the runs; a run without an alarm counts as infinite
//
// Cost: that of the gate. Runs are parallel, each on one thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <draftproof/properties/gate/sampled_gate.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/studies/positions.hpp>

namespace draftproof {

/// One row of a power table.
struct PowerRow {
  std::string about;
  std::shared_ptr<const AnyVerifier> verifier;
  std::string_view imitates, drafter;
  int drafts;
  double reference;      ///< log2 of the reference exposure; NaN: none
  std::string distance;  ///< total variation, as text
  double log2_budget;    ///< of each run
  int runs;
  std::vector<double> log2_exposures{};  ///< ascending; infinity: no alarm

  double median() const { return log2_exposures[(log2_exposures.size() - 1) / 2]; }
  double largest() const { return log2_exposures.back(); }
};

/// A budget, at most the effort; both as log2.
inline double capped(double log2, const StudyOptions& options) {
  return options.effort > 0 ? std::min(log2, static_cast<double>(options.effort)) : log2;
}

/// log2 of the exposure at the alarm; infinity without one.
inline double log2_exposure_at_alarm(const PowerRow& row, const RatioTable& table, std::uint64_t seed,
                                     const StudyOptions& options) {
  const auto verdict = sampled_gate(*row.verifier, *registry().drafter(row.drafter), table, table, row.drafts,
                                    {.trials = std::exp2(row.log2_budget),
                                     .alpha = 1e-9,
                                     .seed = seed,
                                     .threads = 1,
                                     .stop = options.stop,
                                     .imitates = row.imitates,
                                     .first_batch = 16});
  const bool seen = verdict.state == GateState::failed || verdict.impossible > 0;
  return seen ? std::log2(static_cast<double>(verdict.exposure)) : std::numeric_limits<double>::infinity();
}

/// Measures the exposures of all rows, longest budgets first; returns false after a stop.
inline bool measure_exposures(std::vector<PowerRow>& rows, const RatioTable& table, const StudyOptions& options,
                              Meter& meter) {
  struct Job {
    std::size_t row;
    int run;
  };
  std::vector<Job> jobs;
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (int run = 0; run < rows[r].runs; ++run) jobs.push_back({r, run});
  const auto cost = [&rows](const Job& job) {
    const PowerRow& row = rows[job.row];
    return std::isnan(row.reference) ? row.log2_budget : row.reference;
  };
  std::stable_sort(jobs.begin(), jobs.end(), [&](const Job& a, const Job& b) { return cost(a) > cost(b); });
  std::vector<double> found(jobs.size());
  const auto done = for_each_position(options, jobs.size(), [&](std::size_t j) {
    found[j] = log2_exposure_at_alarm(rows[jobs[j].row], table,
                                      options.seed + static_cast<std::uint64_t>(jobs[j].run), options);
    meter.add(1);
  });
  if (std::find(done.begin(), done.end(), 0) != done.end()) return false;
  for (std::size_t j = 0; j < jobs.size(); ++j) rows[jobs[j].row].log2_exposures.push_back(found[j]);
  for (PowerRow& row : rows) std::sort(row.log2_exposures.begin(), row.log2_exposures.end());
  return true;
}

/// "2^12", "2^27.5", or "-" for infinity.
inline std::string power_of_two_text(double log2) {
  if (!std::isfinite(log2)) return "-";
  const double halves = std::round(10 * log2) / 10;
  return halves == std::round(halves) ? fmt::format("2^{:.0f}", halves) : fmt::format("2^{:.1f}", halves);
}

}  // namespace draftproof
