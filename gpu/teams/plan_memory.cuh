// A partition's memory for the plan of its verifier: dynamic shared memory, of which a launch reserves plan_bytes<V>
// per partition.
#pragma once

#include <draftproof/gpu/workspace.hpp>

namespace draftproof::gpu {

/// The memory of a block, or of one of its warps if each works on its own position. With rows on chip the memory lies
/// behind the rows instead (verify_clusters.cuh).
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
