// The definition of verify_batch: include it in a CUDA source and instantiate it for a verifier. The build
// does so for each file of verifiers/ and mutants/.
#pragma once

#include <draftproof/gpu/device_call.cuh>
#include <draftproof/gpu/verify_batch.hpp>
#include <draftproof/gpu/verify_kernel.cuh>

namespace draftproof::gpu {

template <class V, class Entry>
void verify_batch(const V& verifier, const Batch<Entry>& batch, Stream stream) {
  if constexpr (V::info.cannot.device.empty()) {
    if (batch.positions == 0) return;  // CUDA refuses an empty grid
    verify_kernel<<<static_cast<unsigned>(batch.positions), verify_threads, 0, stream>>>(verifier, batch);
    device_call("cudaLaunchKernel", cudaGetLastError());
  } else {
    no_kernel(V::info.name, V::info.cannot.device);
  }
}

}  // namespace draftproof::gpu
