// Launches of kernels whose blocks wait for each other all over the device.
#pragma once

#include <algorithm>
#include <cstddef>

#include <draftproof/gpu/device_call.cuh>
#include <draftproof/gpu/split_team.cuh>

namespace draftproof::gpu {

/// Teams of `shares` blocks of `threads` threads, as many as can run at once and no more than positions. Their
/// scratch is taken from the stream's pool of memory and zeroed on the stream. Throws DeviceError.
template <class V, class B>
void launch_split(void (*kernel)(V, B, SplitScratch*), int positions, int shares, int threads, cudaStream_t stream,
                  V verifier, B batch) {
  int per_multiprocessor = 0;
  device_call("cudaOccupancyMaxActiveBlocksPerMultiprocessor",
              cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel, threads, 0));
  const int most = std::max(1, per_multiprocessor * this_device().multiprocessors / shares);
  const int teams = std::min({positions, most, 65535});
  void* memory = nullptr;
  const std::size_t bytes = static_cast<std::size_t>(teams) * sizeof(SplitScratch);
  device_call("cudaMallocAsync", cudaMallocAsync(&memory, bytes, stream));
  device_call("cudaMemsetAsync", cudaMemsetAsync(memory, 0, bytes, stream));
  auto* scratch = static_cast<SplitScratch*>(memory);
  void* arguments[] = {&verifier, &batch, &scratch};
  const cudaError_t status = cudaLaunchCooperativeKernel(
      reinterpret_cast<const void*>(kernel), dim3(static_cast<unsigned>(shares), static_cast<unsigned>(teams)),
      dim3(static_cast<unsigned>(threads)), arguments, 0, stream);
  device_call("cudaFreeAsync", cudaFreeAsync(memory, stream));
  device_call("cudaLaunchCooperativeKernel", status);
}

}  // namespace draftproof::gpu
