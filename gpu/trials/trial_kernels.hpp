// Kernels of simulation by the name of their verifier, so that a framework of type-erased verifiers can run them on a
// device. This file includes no CUDA header and no header of the framework, so a CUDA source may include this file.
//
//   TrialKernel             gpu::count_trials of one verifier
//   register_trial_kernel   registers a verifier whose kernels lie in draftproof::gpu; instantiates none
//
// Correctness: the names are the names of the registry, which are unique.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <draftproof/gpu/simulate.hpp>

namespace draftproof {

/// Queues trials on drafts of `distribution`. A call with no trials tests whether the kernel exists.
/// Throws: std::logic_error, with the reason, if there is no kernel for this distribution.
using TrialKernel = void (*)(std::string_view distribution, const gpu::DeviceTable& table,
                             const gpu::TrialRange& range, const gpu::DeviceCounts& counts, gpu::Stream stream);

/// The registered kernels by verifier name.
inline std::map<std::string, TrialKernel, std::less<>>& found_trial_kernels() {
  static std::map<std::string, TrialKernel, std::less<>> all;
  return all;
}

/// Registers the built-in kernels of V.
template <class V>
void register_trial_kernel() {
  found_trial_kernels()[std::string(V::info.name)] = [](std::string_view distribution, const gpu::DeviceTable& table,
                                                        const gpu::TrialRange& range, const gpu::DeviceCounts& counts,
                                                        gpu::Stream stream) {
    gpu::count_trials(V{}, distribution, table, range, counts, stream);
  };
}

}  // namespace draftproof
