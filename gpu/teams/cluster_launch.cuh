// Launches of kernels whose blocks form clusters.
#pragma once

#include <cstddef>

#include <draftproof/gpu/device/device_call.cuh>
#include <draftproof/gpu/device/grids.hpp>

namespace draftproof::gpu {

/// Launches `positions` clusters of `partitions` blocks of `threads` threads, each block with `shared_bytes` of
/// dynamic shared memory; at most most_blocks blocks. More than 8 blocks per cluster need an attribute that not every
/// device supports. Throws: DeviceError.
template <class... Parameters, class... Arguments>
void launch_clusters(void (*kernel)(Parameters...), int positions, int partitions, int threads,
                     std::size_t shared_bytes, cudaStream_t stream, const Arguments&... arguments) {
  allow_shared(kernel, shared_bytes);
  if (partitions > 8)
    device_call("cudaFuncSetAttribute",
                cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = static_cast<unsigned>(partitions);
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(positions) * static_cast<unsigned>(partitions));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  device_call("cudaLaunchKernelEx", cudaLaunchKernelEx(&config, kernel, arguments...));
}

}  // namespace draftproof::gpu
