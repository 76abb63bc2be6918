// The CUDA device that is current, as a device of the framework: `--device cuda`.
//
// Cost: a table is copied once, counters once a call. Right because gpu::simulate has the host's Tally; what it
// cannot run it says in its own words.
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
