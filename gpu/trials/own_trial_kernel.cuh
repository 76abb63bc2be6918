// Kernels of simulation for a custom verifier on the named drafters. One line in a CUDA source registers them;
// compile the source with -fmad=false into a program that links draftproof::cuda_trials.
//
//   static const bool found = draftproof::register_own_trial_kernel<MyScheme, draftproof::drafters::Iid>();
//
// Cost: one kernel for each drafter that the verifier's info names; none for other drafters.
#pragma once

#include <draftproof/gpu/kernels/simulate.cuh>
#include <draftproof/gpu/trials/trial_kernels.hpp>

namespace draftproof {

/// Registers kernels of V for those of the drafters D that V::info names. Returns true.
template <class V, class... D>
bool register_own_trial_kernel() {
  found_trial_kernels()[std::string(V::info.name)] = [](std::string_view distribution, const gpu::DeviceTable& table,
                                                        const gpu::TrialRange& range, const gpu::DeviceCounts& counts,
                                                        gpu::Stream stream) {
    gpu::TrialDrafters<D...>::count(V{}, distribution, table, range, counts, stream);
  };
  return true;
}

}  // namespace draftproof
