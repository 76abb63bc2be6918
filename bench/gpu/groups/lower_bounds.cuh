// Lower bounds: a copy of 1 GiB, a read of 1 GiB, an empty kernel, and a cluster that only synchronizes.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstddef>

#include <draftproof/bench/gpu/run.cuh>
#include <draftproof/gpu/device/device_buffer.cuh>
#include <draftproof/gpu/teams/cluster_launch.cuh>
#include <draftproof/gpu/teams/cluster_team.cuh>

namespace draftproof::gpu_bench {

__global__ void empty_kernel() {}

/// Synchronizes a cluster twice, as often as verification of a position whose first draft is accepted.
__global__ void meeting_kernel() {
#if DRAFTPROOF_CLUSTERS
  cooperative_groups::this_cluster().sync();
  cooperative_groups::this_cluster().sync();
#endif
}

/// Reads and writes 16 bytes per thread and iteration, over the whole device.
__global__ void copy_kernel(const uint4* from, uint4* to, std::size_t count) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    to[i] = from[i];
}

/// Reads only. The conditional store of the sum keeps the compiler from removing the loads.
__global__ void read_kernel(const uint4* from, unsigned* never, std::size_t count) {
  unsigned sum = 0;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const uint4 four = __ldcs(from + i);
    sum ^= four.x ^ four.y ^ four.z ^ four.w;
  }
  if (sum == 0x9E3779B9u && never != nullptr) *never = sum;
}

struct LowerBounds {
  static void run(Run& run) {
    run.add({.name = "lower_bound/empty_kernel",
             .microseconds = run.microseconds([](cudaStream_t stream) { empty_kernel<<<1, 32, 0, stream>>>(); })});
    if (run.device().major >= 9)
      run.add({.name = "lower_bound/cluster_meeting", .microseconds = run.microseconds([](cudaStream_t stream) {
                 gpu::launch_clusters(meeting_kernel, 1, 8, 512, 0, stream);
               })});
    // 1 GiB is far more than the second-level cache holds.
    constexpr std::size_t bytes = std::size_t{1} << 30, count = bytes / sizeof(uint4);
    const gpu::DeviceBuffer<uint4> from(nullptr, count), to(nullptr, count);
    device_call("cudaMemset", cudaMemset(from.data(), 1, bytes));
    const auto blocks = static_cast<unsigned>(run.device().multiProcessorCount * 8);
    const double copy = run.microseconds(
        [&](cudaStream_t stream) { copy_kernel<<<blocks, 512, 0, stream>>>(from.data(), to.data(), count); });
    const double read = run.microseconds(
        [&](cudaStream_t stream) { read_kernel<<<blocks, 512, 0, stream>>>(from.data(), nullptr, count); });
    // A copy transfers twice the bytes, because each byte is read and written.
    run.add({.name = "lower_bound/copy", .microseconds = copy, .bytes = 2.0 * bytes});
    run.add({.name = "lower_bound/read", .microseconds = read, .bytes = 1.0 * bytes});
  }
};

}  // namespace draftproof::gpu_bench
