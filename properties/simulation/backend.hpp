// Where trials run: on the requested device if it supports them, else on the CPU.
//
//   Backend          the device or CPU, as printed in reports
//   BackendChooser   chooses for one table, scheme by scheme; loads the table into the device on first use
//
// Cost: one copy of the table per device; none if no device was requested.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <draftproof/properties/simulation/simulation.hpp>
#include <draftproof/properties/simulation/trial_device.hpp>

namespace draftproof {

struct Backend {
  std::string_view device{};  ///< name of the device used, or "cpu"; empty if no device was requested
  std::string refusal{};      ///< why the trials do not run on the requested device; empty if they do

  bool asked() const { return !device.empty(); }
  bool on_device() const { return asked() && refusal.empty(); }
};

class BackendChooser {
 public:
  /// `device` is null if no device was requested. The object refers to both arguments.
  BackendChooser(const TrialDevice* device, const RatioTable& table) : device_{device}, table_{table} {}

  /// Returns the backend for these trials. Throws: DeviceFailure if the table cannot be loaded.
  Backend of(const AnyVerifier& verifier, const AnyDrafter& drafter, int drafts) {
    if (!device_) return {};
    Backend place{.device = "cpu", .refusal = std::string(verifier.info().unsupported.simulate)};
    if (place.refusal.empty()) place.refusal = table().refusal(verifier, drafter, drafts);
    if (place.refusal.empty()) place.device = device_->name();
    return place;
  }
  /// Returns the table in the device's memory. Requires a requested device. Throws: DeviceFailure.
  const TrialTable& table() {
    if (!loaded_) loaded_ = device_->load(table_);
    return *loaded_;
  }

 private:
  const TrialDevice* device_;
  const RatioTable& table_;
  std::unique_ptr<TrialTable> loaded_;
};

// Simulation on a device, with the progress, stop flag and time limit of a simulation on the CPU.
//
// Cost: rounds of 2^22 trials first and of more trials later, so that the pauses between them cost little and
// an interrupt takes effect soon.
//
// Correctness: a range of trials gives the same counts in one round or in several.

/// Runs the budget's trials in rounds. `run(done, count)` runs the `count` trials of a round after the first `done`.
/// Returns the number of trials run.
std::uint64_t in_rounds(const TrialBudget& budget,
                        const std::function<void(std::uint64_t done, std::uint64_t count)>& run);

/// Returns the same tally as simulate(what, table, budget) on the CPU. Throws: std::invalid_argument for lazily
/// drawn drafts, which bring no gain on a device; DeviceFailure.
Tally simulate(const Simulation& what, const TrialTable& on, const TrialBudget& budget);

}  // namespace draftproof
