// Comparison of a device with the CPU: runs the same trials on both, and requires every counter to be equal.
//
//   N      ParityOptions::trials   first trials of the sampled tier, counted on both
//   n      DeviceParity::trial     the first trial that differs
//
// Cost: N trials on the device and N on the CPU. If their counters differ, about log2 N shorter runs of both find n.
//
// Correctness: a trial's random bits are a function of (seed, n), so equal code gives equal verdicts. There is
// no tolerance.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include <draftproof/properties/simulation/trial_device.hpp>

namespace draftproof {

struct ParityOptions {
  std::uint64_t trials = std::uint64_t{1} << 20;  ///< one or two seconds on one processor
  std::uint64_t seed = 1;
  std::uint64_t first = 0;  ///< address of the first trial
  int threads = 0;          ///< 0: all processors
  const std::atomic<bool>* stop = nullptr;
};

struct DeviceParity {
  std::uint64_t trials = 0;              ///< number of compared trials; 0 after an interrupt
  std::string difference{};              ///< the first counter that differs, and how; empty if all are equal
  std::optional<std::uint64_t> trial{};  ///< a trial that differs by itself, counted from `first`
  std::string alone{};                   ///< the results of that trial on the device and on the CPU

  bool equal() const { return difference.empty(); }
};

/// Compares the tallies, and the gate's counts for `null`. Throws: DeviceFailure.
DeviceParity device_parity(const AnyVerifier& verifier, const AnyDrafter& drafter, const RatioTable& table,
                           const TrialTable& on, const SampledNull& null, int drafts, const ParityOptions& options);

/// Returns the first counter that differs, as "NAME: A on the device, B on the CPU"; empty if none does.
std::string first_difference(const Tally& device, const Tally& host);
std::string first_difference(const SampledCounts& device, const SampledCounts& host);

}  // namespace draftproof
