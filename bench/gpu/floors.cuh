// What nothing can be faster than: a copy of the same bytes, a kernel that does nothing, and clusters that only meet.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <draftproof/gpu/teams/cluster_team.cuh>

namespace draftproof::gpu_bench {

__global__ void empty_kernel() {}

/// Two barriers of a cluster, as a position that accepts its first draft has.
__global__ void meeting_kernel() {
#if DRAFTPROOF_CLUSTERS
  cooperative_groups::this_cluster().sync();
  cooperative_groups::this_cluster().sync();
#endif
}

/// Reads and writes 16 bytes a thread and turn, all over the device.
__global__ void copy_kernel(const uint4* from, uint4* to, std::size_t count) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    to[i] = from[i];
}

/// Reads alone; the sum is written where it cannot be, so that the loads stay.
__global__ void read_kernel(const uint4* from, unsigned* never, std::size_t count) {
  unsigned sum = 0;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const uint4 four = __ldcs(from + i);
    sum ^= four.x ^ four.y ^ four.z ^ four.w;
  }
  if (sum == 0x9E3779B9u && never != nullptr) *never = sum;
}

}  // namespace draftproof::gpu_bench
