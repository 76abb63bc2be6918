// Kernels of simulation by the name of their verifier: what lets a framework with erased verifiers run one of them on
// a device. No CUDA header, and nothing of the framework: a CUDA source may include it.
//
//   TrialKernel             gpu::count_trials of one verifier
//   register_trial_kernel   of a verifier whose kernels lie in draftproof::gpu; instantiates none
//
// Right because names are those of the registry, where no two verifiers share one.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <draftproof/gpu/simulate.hpp>

namespace draftproof {

/// Queues trials on drafts of `law`. Throws std::logic_error, with the reason, where there is no kernel for it; to
/// ask, ask for no trials.
using TrialKernel = void (*)(std::string_view law, const gpu::DeviceTable& table, const gpu::TrialRange& range,
                             const gpu::DeviceCounts& counts, gpu::Stream stream);

inline std::map<std::string, TrialKernel, std::less<>>& found_trial_kernels() {
  static std::map<std::string, TrialKernel, std::less<>> all;
  return all;
}

template <class V>
void register_trial_kernel() {
  found_trial_kernels()[std::string(V::info.name)] = [](std::string_view law, const gpu::DeviceTable& table,
                                                        const gpu::TrialRange& range, const gpu::DeviceCounts& counts,
                                                        gpu::Stream stream) {
    gpu::count_trials(V{}, law, table, range, counts, stream);
  };
}

}  // namespace draftproof
