// The statistical gate at one position: trials of a drafter and a verifier, counted by accepted draft and token and
// held against what an exact verifier does, until the evidence or the budget decides.
//
//   e-values      statistics/gate_suite.hpp on (path, token), and beside it
//   serial_dependence    groups of the tokens of two successive trials: independent trials do not know each other
//   drafts        tokens of each draft against the proposal, where the draft law says they follow it
//   optimum       tokens among the drafts: more than any lossless verifier can have is an alarm
//
// All are averaged with fixed weights, so one level covers them. Batches hold a Poisson number of trials; the same
// seed gives the same verdict for any number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/properties/simulation/trial_device.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>
#include <draftproof/statistics/gate_schedule.hpp>
#include <draftproof/statistics/gate_suite.hpp>

namespace draftproof {

struct SampledGateOptions {
  double trials = 0x1p21;  ///< planned
  double alpha = 1e-9;     ///< probability of a false alarm of this gate
  std::uint64_t seed = 1;
  std::uint64_t first = 0;  ///< address of the first trial: positions have trials of their own
  int threads = 0;          ///< 0: all processors
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::uint64_t trials)> progress{};
  /// Scheme whose path law is held against this verifier's counts; empty: its own, if one is known. A wrong program
  /// is told from the scheme that it imitates.
  std::string_view imitates{};
  /// Planned trials of the first batch, at least 1; later ones double. More looks cost time, never errors.
  std::uint64_t first_batch = 4096;
  /// Where trials are run and counted, with `table` loaded; null: here. The verdict is the same.
  const TrialTable* on = nullptr;
};

struct SampledVerdict {
  GateState state = GateState::ok;
  bool undecided = false;  ///< not ok, and no more trials to run; or stopped
  double log_e = 0;
  std::uint64_t exposure = 0;    ///< planned trials of the batches that were run
  std::uint64_t trials = 0;      ///< run
  std::uint64_t impossible = 0;  ///< trials that reached a branch of probability zero: a defect whatever else
  std::vector<GateComponent> components{};
  std::optional<WorstCell> worst{};
  std::optional<std::uint64_t> example{};  ///< a trial that ended in the worst cell
  double smallest_distance = 0;  ///< total variation of any shape that these trials find with probability 0.99
  double acceptance = 0;         ///< tokens among the drafts, observed
  std::optional<double> optimum{};

  /// The component with the most evidence; there is one where trials were run.
  const GateComponent& strongest() const;
};

/// The verifier can be simulated on `laws` (prepared tables, or plain rows where its plan enumerates tuples). `table`
/// holds the same laws.
template <class L>
SampledVerdict sampled_gate(const AnyVerifier& verifier, const AnyDrafter& drafter, const L& laws,
                            const RatioTable& table, int drafts, const SampledGateOptions& options);

extern template SampledVerdict sampled_gate(const AnyVerifier&, const AnyDrafter&, const RatioTable&,
                                            const RatioTable&, int, const SampledGateOptions&);
extern template SampledVerdict sampled_gate(const AnyVerifier&, const AnyDrafter&, const Rows<double>&,
                                            const RatioTable&, int, const SampledGateOptions&);

}  // namespace draftproof
