#include <draftproof/gpu/trials/cuda_device.hpp>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

#include <draftproof/gpu/launch.hpp>
#include <draftproof/gpu/simulate.hpp>
#include <draftproof/gpu/trials/trial_kernels.hpp>

namespace draftproof {

namespace {

/// Converts a failed CUDA call to a DeviceFailure of the framework.
template <class Call>
auto on_cuda(const Call& call) {
  try {
    return call();
  } catch (const gpu::DeviceError& error) {
    throw DeviceFailure(std::string("cuda: ") + error.what());
  }
}

TrialKernel kernel_of(const AnyVerifier& verifier) {
  const auto& kernels = found_trial_kernels();
  const auto found = kernels.find(verifier.info().name);
  return found == kernels.end() ? nullptr : found->second;
}

void add(std::vector<std::uint64_t>& into, std::span<const std::uint64_t> counts) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] += counts[i];
}

class CudaTable final : public TrialTable {
 public:
  explicit CudaTable(const RatioTable& table) : distributions_{table}, nothing_{distributions_, false} {}

  std::string refusal(const AnyVerifier& verifier, const AnyDrafter& drafter, int drafts) const override {
    const TrialKernel kernel = kernel_of(verifier);
    if (!kernel) return std::string(verifier.info().name) + " has no simulation kernel";
    try {
      on_cuda([&] { kernel(drafter.info().name, distributions_, {.drafts = drafts}, nothing_, {}); });
    } catch (const std::logic_error& reason) {
      return reason.what();
    }
    return {};
  }

  Tally tally(const DeviceTrials& trials, bool histogram) const override {
    return on_cuda([&] {
      const gpu::DeviceCounts counts(distributions_, histogram);
      queue(trials, counts);
      return counts.tally(trials.count, {});
    });
  }

  void count(const DeviceTrials& trials, const SampledNull& null, std::uint64_t pairs,
             SampledCounts& counts) const override {
    const std::size_t vocabulary = counts.cells.vocabulary(), paths = counts.cells.paths();
    const gpu::JointTally found = on_cuda([&] {
      const gpu::DeviceCounts joint(distributions_,
                                    gpu::JointCounting{.paths = static_cast<int>(paths),
                                                       .drafts = static_cast<int>(counts.drafts.size() / vocabulary),
                                                       .groups = static_cast<int>(SampledNull::groups()),
                                                       .group = null.group_of_tokens(),
                                                       .pairs = pairs});
      queue(trials, joint);
      return joint.joint_tally(trials.count, {});
    });
    counts.trials += found.tally.trials;
    counts.draft_emitted += found.tally.draft_emitted;
    counts.impossible += found.tally.impossible;
    for (std::size_t i = 0; i < found.cells.size(); ++i)
      counts.cells.add(i / vocabulary, i % vocabulary, found.cells[i]);
    add(counts.drafts, found.drafts);
    add(counts.serial_dependence, found.serial_dependence);
  }

 private:
  void queue(const DeviceTrials& trials, const gpu::DeviceCounts& counts) const {
    kernel_of(trials.verifier)(trials.drafter.info().name, distributions_,
                               {trials.seed, trials.first, trials.count, trials.drafts}, counts, {});
  }

  gpu::DeviceTable distributions_;
  gpu::DeviceCounts nothing_;
};

}  // namespace

std::string CudaDevice::missing() const {
  return on_cuda([] { return gpu::device_count() > 0 ? std::string() : std::string("no CUDA device"); });
}

std::unique_ptr<TrialTable> CudaDevice::load(const RatioTable& table) const {
  return on_cuda([&table]() -> std::unique_ptr<TrialTable> { return std::make_unique<CudaTable>(table); });
}

}  // namespace draftproof
