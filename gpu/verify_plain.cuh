// verify_batch and the mappings that run on every device.
#pragma once

#include <draftproof/gpu/device_call.cuh>
#include <draftproof/gpu/split_launch.cuh>
#include <draftproof/gpu/verify_batch.hpp>
#include <draftproof/gpu/verify_kernel.cuh>

namespace draftproof::gpu {

template <class V, class Entry>
void verify_batch(const V& verifier, const Batch<Entry>& batch, Stream stream, Mapping wanted) {
  if constexpr (V::info.cannot.device.empty()) {
    if (batch.positions == 0) return;  // CUDA refuses an empty grid
    const auto positions = static_cast<unsigned>(batch.positions);
    const auto [mapping, shares] =
        mapped(wanted, this_device(), batch.positions, batch.vocabulary, batch.proposals, sizeof(Entry));
    switch (mapping) {
      case Mapping::warp:
        verify_by_warp<<<(positions + verify_warps - 1) / verify_warps, 32 * verify_warps, 0, stream>>>(verifier,
                                                                                                        batch);
        device_call("cudaLaunchKernel", cudaGetLastError());
        break;
      case Mapping::cluster:
        if constexpr (sizeof(Entry) <= sizeof(float)) verify_clusters(verifier, batch, shares, stream);
        break;
      case Mapping::split:
        launch_split(verify_by_split<V, Entry>, batch.positions, shares, verify_threads, stream, verifier, batch);
        break;
      default:
        verify_by_block<<<positions, verify_threads, 0, stream>>>(verifier, batch);
        device_call("cudaLaunchKernel", cudaGetLastError());
    }
  } else {
    no_kernel(V::info.name, V::info.cannot.device);
  }
}

}  // namespace draftproof::gpu
