// A partition's memory for the plan of its verifier: dynamic shared memory, of which a launch reserves plan_bytes<V>
// per partition.
#pragma once

#include <draftproof/gpu/workspace.hpp>

namespace draftproof::gpu {

/// The memory of a block.
template <class V>
__device__ TeamMemory plan_memory() {
  constexpr std::size_t bytes = plan_bytes<V>;
  if constexpr (bytes > 0) {
    extern __shared__ float4 plans[];
    return {reinterpret_cast<unsigned char*>(plans), bytes};
  }
  return {};
}

}  // namespace draftproof::gpu
