// The current CUDA device as a device of the framework: `--device cuda`.
//
// Cost: one copy of each table, and one copy of the counters per call.
// Correctness: counts equal the host's; for trials without a kernel refusal() returns the reason.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <draftproof/properties/simulation/trial_device.hpp>

namespace draftproof {

class CudaDevice final : public TrialDevice {
 public:
  std::string_view name() const override { return "cuda"; }
  std::string missing() const override;
  std::unique_ptr<TrialTable> load(const RatioTable& table) const override;
};

}  // namespace draftproof
