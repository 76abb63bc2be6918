// Devices that run trials in the host's place: what they are asked, and those the program was linked with, by name.
//
//   TrialDevice    what `--device` names; there may be none of its kind on this machine
//   TrialTable     the laws of one position in its memory
//   DeviceTrials   trials n = first .. first + count - 1 of one verifier on the drafts of one drafter
//
// Cost: that of the device. A device runs the same source on the words of (seed, n) and counts in integers, so what
// it counts is what the host counts; nobody takes that on trust (device_parity.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/properties/simulation/sampled_null.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>
#include <draftproof/sim/trials/counts.hpp>

namespace draftproof {

/// A device that is there and fails: the message names the call. Never answered by running on the host instead.
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

/// Threads may share one. Every call throws DeviceFailure.
class TrialTable {
 public:
  virtual ~TrialTable() = default;

  /// Why such trials cannot run here; empty if they can, and only then may they be asked for.
  virtual std::string refusal(const AnyVerifier& verifier, const AnyDrafter& drafter, int drafts) const = 0;
  virtual Tally tally(const DeviceTrials& trials, bool histogram) const = 0;
  /// Adds what the statistical gate counts; pairs of successive trials, the first one even from `first` on, below
  /// `pairs` alone.
  virtual void count(const DeviceTrials& trials, const SampledNull& null, std::uint64_t pairs,
                     SampledCounts& counts) const = 0;
};

class TrialDevice {
 public:
  virtual ~TrialDevice() = default;

  virtual std::string_view name() const = 0;
  /// What is not on this machine ("no CUDA device"); empty if the device can be used.
  virtual std::string missing() const = 0;
  /// `table` outlives what is returned.
  virtual std::unique_ptr<TrialTable> load(const RatioTable& table) const = 0;
};

/// Filled before main by who links a device; empty in a program without.
inline std::vector<std::unique_ptr<TrialDevice>>& found_trial_devices() {
  static std::vector<std::unique_ptr<TrialDevice>> all;
  return all;
}

/// Null if there is none of that name.
inline const TrialDevice* trial_device(std::string_view name) {
  for (const auto& device : found_trial_devices())
    if (device->name() == name) return device.get();
  return nullptr;
}

}  // namespace draftproof
