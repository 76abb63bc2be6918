// Launches of kernels in which blocks anywhere on the device wait for each other.
#pragma once

#include <algorithm>
#include <cstddef>

#include <draftproof/gpu/device/device_call.cuh>
#include <draftproof/gpu/teams/split_team.cuh>

namespace draftproof::gpu {

/// Launches teams of `partitions` blocks of `threads` threads: as many teams as can run at once, at most `most`, the
/// length of `scratch`. The scratch is zeroed on the stream. Each block has `shared_bytes` of dynamic shared memory.
/// Throws: DeviceError.
template <class V, class B>
void launch_split(void (*kernel)(V, B, SplitScratch*), int most, int partitions, int threads, cudaStream_t stream,
                  V verifier, B batch, SplitScratch* scratch, std::size_t shared_bytes) {
  allow_shared(kernel, shared_bytes);
  int per_multiprocessor = 0;
  device_call("cudaOccupancyMaxActiveBlocksPerMultiprocessor",
              cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel, threads, shared_bytes));
  const int teams = std::min(most, std::max(1, per_multiprocessor * this_device().multiprocessors / partitions));
  device_call("cudaMemsetAsync",
              cudaMemsetAsync(scratch, 0, static_cast<std::size_t>(teams) * sizeof(SplitScratch), stream));
  void* arguments[] = {&verifier, &batch, &scratch};
  device_call("cudaLaunchCooperativeKernel",
              cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel),
                                          dim3(static_cast<unsigned>(partitions), static_cast<unsigned>(teams)),
                                          dim3(static_cast<unsigned>(threads)), arguments, shared_bytes, stream));
}

}  // namespace draftproof::gpu
