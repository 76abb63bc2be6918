// The statistical gate at one position. It counts trials of a drafter and a verifier by accepted draft and
// token and compares the counts with the distribution of an exact verifier, until the evidence or the budget
// decides.
//
//   e-values            properties/statistics/gate_suite.hpp on (path, token), and e-values for:
//   serial_dependence   token groups of two successive trials, which are independent under the null
//   drafts              tokens of each draft against the proposal, if the drafts are declared to follow it
//   optimum             number of tokens among the drafts; more than any lossless verifier can have is an alarm
//
// The average of all these e-values with fixed weights is an e-value, so one error level covers all of them. Batches
// have a Poisson number of trials. The same seed gives the same verdict for any number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/properties/simulation/trial_device.hpp>
#include <draftproof/properties/statistics/gate_suite.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>

namespace draftproof {

class Checkpoint;

struct SampledGateOptions {
  double trials = 0x1p21;  ///< planned number of trials
  /// Total variation that the gate must detect with probability 0.99, however it is distributed over tokens. The
  /// number of trials is computed from it and the target. 0: `trials` is used.
  double distance = 0;
  double alpha = 1e-9;  ///< probability of a false alarm of this gate
  std::uint64_t seed = 1;
  std::uint64_t first = 0;  ///< number of the first trial in the random stream; differs between positions
  int threads = 0;          ///< 0: all processors
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::uint64_t trials)> progress{};
  /// Scheme whose path distribution is compared with this verifier's counts. Empty: the scheme that the verifier is
  /// derived from, or a registered verifier itself. Without a known path distribution nothing is compared.
  std::string_view imitates{};
  /// Planned trials of the first batch, at least 1; later batches double. More batches take more time, but do not raise
  /// the probability of a false alarm.
  std::uint64_t first_batch = 4096;
  /// The copy of `table` on the device that runs the trials; null: the CPU runs them. The verdict is the same.
  const TrialTable* on = nullptr;
  /// Stores blocks of trials. A process that computes a shard counts its blocks of all batches within the budget and
  /// gives no verdict.
  Checkpoint* checkpoint = nullptr;
  std::string group{};  ///< name of this gate in the checkpoint
};

struct SampledVerdict {
  GateState state = GateState::ok;
  bool undecided = false;  ///< whether the state is not ok and no trials are left, or the gate was interrupted
  double log_e = 0;
  std::uint64_t exposure = 0;    ///< planned trials of the batches that ran
  std::uint64_t trials = 0;      ///< number of trials that ran
  std::uint64_t impossible = 0;  ///< trials that reached a branch of probability zero; each shows a defect
  std::vector<GateComponent> components{};
  std::optional<WorstCell> worst{};
  std::optional<std::uint64_t> example{};  ///< a trial that ended in the worst cell
  /// total variation that these trials detect with probability 0.99, however it is distributed over tokens
  double smallest_distance = 0;
  double acceptance = 0;  ///< observed share of trials whose token is a draft
  std::optional<double> optimum{};

  /// Returns the component with the most evidence. Requires that trials were run.
  const GateComponent& strongest() const;
};

/// Runs the gate. `distributions` are prepared tables, or plain rows if the verifier's plan enumerates tuples;
/// `table` has the same distributions. Throws: std::invalid_argument if the verifier cannot be simulated on
/// `distributions`; DeviceFailure from a device.
template <class L>
SampledVerdict sampled_gate(const AnyVerifier& verifier, const AnyDrafter& drafter, const L& distributions,
                            const RatioTable& table, int drafts, const SampledGateOptions& options);

extern template SampledVerdict sampled_gate(const AnyVerifier&, const AnyDrafter&, const RatioTable&,
                                            const RatioTable&, int, const SampledGateOptions&);
extern template SampledVerdict sampled_gate(const AnyVerifier&, const AnyDrafter&, const Rows<double>&,
                                            const RatioTable&, int, const SampledGateOptions&);

}  // namespace draftproof
