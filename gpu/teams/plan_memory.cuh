// The memory of a kernel's partition for the plan of its verifier: dynamic shared memory, of which a launch gives
// plan_bytes<V> for each.
#pragma once

#include <draftproof/gpu/workspace.hpp>

namespace draftproof::gpu {

/// Of the block, or of one of its warps that work for themselves. Where rows lie on chip as well, it is behind them
/// (verify_clusters.cuh).
template <class V>
__device__ TeamMemory plan_memory(int warp = 0) {
  constexpr std::size_t bytes = plan_bytes<V>;
  if constexpr (bytes > 0) {
    extern __shared__ float4 plans[];
    return {reinterpret_cast<unsigned char*>(plans) + static_cast<std::size_t>(warp) * bytes, bytes};
  }
  return {};
}

}  // namespace draftproof::gpu
