// A device held to the host: the same trials on both, and every counter equal.
//
//   N      ParityOptions::trials   first trials of the sampled tier, counted on either side
//   n      DeviceParity::trial     of those that differ, the first
//
// Cost: N trials on the host, N on the device; where they differ, about log2 N shorter runs of both to find n. Right
// because a trial's words are those of (seed, n): equal sources give equal verdicts, and there is no tolerance.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include <draftproof/properties/simulation/trial_device.hpp>

namespace draftproof {

struct ParityOptions {
  std::uint64_t trials = std::uint64_t{1} << 20;  ///< a second of one processor, or two
  std::uint64_t seed = 1;
  std::uint64_t first = 0;  ///< address of the first trial
  int threads = 0;          ///< 0: all processors
  const std::atomic<bool>* stop = nullptr;
};

struct DeviceParity {
  std::uint64_t trials = 0;              ///< compared; 0 after a stop
  std::string difference{};              ///< the first counter that differs, and how; empty if all are equal
  std::optional<std::uint64_t> trial{};  ///< from `first` on, if one alone differs
  std::string alone{};                   ///< what came of that trial, there and here

  bool equal() const { return difference.empty(); }
};

/// What the gate counts beside a Tally is compared too; `null` says what that is.
DeviceParity device_parity(const AnyVerifier& verifier, const AnyDrafter& drafter, const RatioTable& table,
                           const TrialTable& on, const SampledNull& null, int drafts, const ParityOptions& options);

/// The first counter in which they differ, as "NAME: A on the device, B on the CPU"; empty if none does.
std::string first_difference(const Tally& device, const Tally& host);
std::string first_difference(const SampledCounts& device, const SampledCounts& host);

}  // namespace draftproof
