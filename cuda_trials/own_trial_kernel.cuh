// Kernels of simulation for a verifier of one's own, on the drafters named: one line of a CUDA source that is
// compiled with -fmad=false into a program that links draftproof::cuda_trials.
//
//   static const bool found = draftproof::register_own_trial_kernel<MyScheme, draftproof::drafters::Iid>();
//
// Cost: a kernel for each drafter that the verifier's info names. A drafter it does not name costs nothing.
#pragma once

#include <draftproof/cuda_trials/trial_kernels.hpp>
#include <draftproof/gpu/kernels/simulate.cuh>

namespace draftproof {

template <class V, class... D>
bool register_own_trial_kernel() {
  found_trial_kernels()[std::string(V::info.name)] = [](std::string_view law, const gpu::DeviceTable& table,
                                                        const gpu::TrialRange& range, const gpu::DeviceCounts& counts,
                                                        gpu::Stream stream) {
    gpu::TrialDrafters<D...>::count(V{}, law, table, range, counts, stream);
  };
  return true;
}

}  // namespace draftproof
