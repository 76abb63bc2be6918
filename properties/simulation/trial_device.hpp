// Devices that run trials instead of the CPU: their interface, and a list of the devices linked into the program.
//
//   TrialDevice    named by `--device`; the machine may lack the hardware
//   TrialTable     the rows of one position in the device's memory
//   DeviceTrials   trials n = first .. first + count - 1 of one verifier on the drafts of one drafter
//
// Correctness: a device runs the same code on the random bits of (seed, n) and counts in integers, so its
// counts equal the CPU's; device_parity.hpp checks this.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/properties/simulation/sampled_null.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>
#include <draftproof/sim/tally.hpp>

namespace draftproof {

/// Failure of a device that is present; the message names the failed call. The trials are not run on the CPU instead.
class DeviceFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct DeviceTrials {
  const AnyVerifier& verifier;
  const AnyDrafter& drafter;
  int drafts;
  std::uint64_t seed, first, count;
};

/// A table in a device's memory, on which trials run. Threads may share an object. All calls may throw DeviceFailure.
class TrialTable {
 public:
  virtual ~TrialTable() = default;

  /// Returns why these trials cannot run here; empty if they can. The calls below require that it is empty.
  virtual std::string refusal(const AnyVerifier& verifier, const AnyDrafter& drafter, int drafts) const = 0;
  /// Returns the tally of the trials, with a histogram of tokens if requested.
  virtual Tally tally(const DeviceTrials& trials, bool histogram) const = 0;
  /// Adds the counts of the statistical gate. A pair is an even trial, counted from `first`, and its successor; only
  /// pairs with a number below `pairs` are counted.
  virtual void count(const DeviceTrials& trials, const SampledNull& null, std::uint64_t pairs,
                     SampledCounts& counts) const = 0;
};

class TrialDevice {
 public:
  virtual ~TrialDevice() = default;

  /// Returns the name for `--device`.
  virtual std::string_view name() const = 0;
  /// Returns the missing hardware or driver ("no CUDA device"); empty if the device can be used.
  virtual std::string missing() const = 0;
  /// Copies the rows to the device. `table` must outlive the result. Throws: DeviceFailure.
  virtual std::unique_ptr<TrialTable> load(const RatioTable& table) const = 0;
};

/// Returns the linked devices, registered before main(); empty if none is linked.
inline std::vector<std::unique_ptr<TrialDevice>>& found_trial_devices() {
  static std::vector<std::unique_ptr<TrialDevice>> all;
  return all;
}

/// Returns the device of that name, or null.
inline const TrialDevice* trial_device(std::string_view name) {
  for (const auto& device : found_trial_devices())
    if (device->name() == name) return device.get();
  return nullptr;
}

}  // namespace draftproof
