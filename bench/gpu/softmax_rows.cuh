// The kernel shape in which engines commonly compute softmax: a block of 1024 threads per row, one pass for the
// greatest logit and the sum of powers, a second pass that writes. Its time is a lower bound for verification from
// logits, which computes the same softmax.
//
//   rows       [n, V] of any format, `stride` entries apart
//   out        [n, V] floats, `stride` apart
//
// Cost: a read from device memory, another that the second-level cache may serve, and a write.
// Correctness: the sums are floats; only the times are used.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include <draftproof/bench/gpu/common_shape.cuh>

namespace draftproof::gpu_bench {

__device__ inline float max_of_block(float value, float* warps) {
  for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(~0u, value, step));
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  if (lane == 0) warps[warp] = value;
  __syncthreads();
  float greatest = warps[lane];
  for (int step = 16; step > 0; step /= 2) greatest = fmaxf(greatest, __shfl_xor_sync(~0u, greatest, step));
  __syncthreads();
  return greatest;
}

/// A chunk of 16 bytes of entries.
template <class Entry>
struct alignas(16) Entries {
  static constexpr int count = 16 / static_cast<int>(sizeof(Entry));
  Entry of[count];
};

/// Requires: rows aligned to 16 bytes, and a vocabulary that is a multiple of 8.
template <class Entry>
__global__ void __launch_bounds__(common_threads, 1)
    softmax_rows_kernel(const Entry* rows, std::int64_t stride, int vocabulary, float* out) {
  using Chunk = Entries<Entry>;
  __shared__ float warps[32];
  const auto* const chunks = reinterpret_cast<const Chunk*>(rows + stride * blockIdx.x);
  const int count = vocabulary / Chunk::count;
  float greatest = -3e38f, sum = 0;  // over this thread's logits: the maximum, and the sum of exp(logit - maximum)
#pragma unroll 4
  for (int c = static_cast<int>(threadIdx.x); c < count; c += common_threads) {
    const Chunk chunk = chunks[c];
    float here = greatest;
    for (int i = 0; i < Chunk::count; ++i) here = fmaxf(here, static_cast<float>(chunk.of[i]));
    sum *= __expf(greatest - here);
    for (int i = 0; i < Chunk::count; ++i) sum += __expf(static_cast<float>(chunk.of[i]) - here);
    greatest = here;
  }
  const float all = max_of_block(greatest, warps);
  const float factor = 1 / sum_of_block(sum * __expf(greatest - all), warps);
  float* const row = out + stride * blockIdx.x;
#pragma unroll 4
  for (int c = static_cast<int>(threadIdx.x); c < count; c += common_threads) {
    const Chunk chunk = chunks[c];
    for (int i = 0; i < Chunk::count; i += 4) {
      float4 four;
      for (int j = 0; j < 4; ++j) (&four.x)[j] = __expf(static_cast<float>(chunk.of[i + j]) - all) * factor;
      *reinterpret_cast<float4*>(row + c * Chunk::count + i) = four;
    }
  }
}

}  // namespace draftproof::gpu_bench
