// When a gate evaluates its counts, when it stops, and its final state. Each batch doubles the number of trials. The
// gate may look at the e-value after each batch and continue because it is large; neither needs a correction.
//
//   budget                     planned number of trials
//   log e < log 1e2            ok
//   up to log 1e5              watch
//   up to the threshold        suspicious
//   from the threshold on      failed: the gate stops for good
//
// A gate that is not ok at the budget continues, up to 16 times the budget, while it is not ok. At most one exact
// verifier in 100 is ever in that state (Ville), so the expected cost is below 1.15 budgets. A gate that ends as
// watch or suspicious is undecided; that is not a pass. Thresholds come from error_budget.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace draftproof {

enum class GateState { ok, watch, suspicious, failed };

/// The state in words, as reports print it.
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

  /// Planned size of the next batch in trials, 0 if there is none. The batch runs poisson_count(next()) trials.
  std::uint64_t next() const {
    if (state_ == GateState::failed) return 0;
    if (exposure_ < budget_) return std::min(std::max(first_, exposure_), budget_ - exposure_);
    if (state_ == GateState::ok) return 0;
    return std::min(exposure_, escalation * budget_ - exposure_);
  }

  /// Reports that the batch of size next() has been run; `log_e` is log e of all counts so far.
  void observe(double log_e) {
    exposure_ += next();
    if (state_ != GateState::failed) state_ = state_of(log_e);
  }

  /// Planned number of trials so far.
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

}  // namespace draftproof
