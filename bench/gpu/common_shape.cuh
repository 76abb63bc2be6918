// The kernel shape in which engines commonly verify one position: a block of 1024 threads per request, and float sums.
// The residual is summed tile by tile, with one block-wide reduction per tile, and then read again until its running
// sum exceeds the uniform number times the whole sum. draftproof's kernels are compared with this kernel. It is written
// after public descriptions of such kernels, not copied from their source.
//
//   request    p [V], q [V] floats, one refused draft: the cost of a refusal
//   tile       1024 threads x 4 entries
//
// Cost: two reads of p and q, with a block-wide reduction per tile in each.
// Correctness: the sums are floats, so the chosen token depends on the order of summation. Only the times are used.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace draftproof::gpu_bench {

inline constexpr int common_threads = 1024, common_tile = 4 * common_threads;

__device__ inline float sum_of_block(float value, float* warps) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  if (lane == 0) warps[warp] = value;
  __syncthreads();
  float sum = warps[lane];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  __syncthreads();
  return sum;
}

__device__ inline float4 residual_of(const float* p, const float* q, int i, int vocabulary) {
  if (i + 3 >= vocabulary) {
    float4 rest{0, 0, 0, 0};
    for (int j = 0; i + j < vocabulary; ++j) (&rest.x)[j] = fmaxf(p[i + j] - q[i + j], 0.0f);
    return rest;
  }
  const float4 a = *reinterpret_cast<const float4*>(p + i), b = *reinterpret_cast<const float4*>(q + i);
  return {fmaxf(a.x - b.x, 0.0f), fmaxf(a.y - b.y, 0.0f), fmaxf(a.z - b.z, 0.0f), fmaxf(a.w - b.w, 0.0f)};
}

/// Rows are `stride` entries apart; row q of a request follows its row p. A thread loads 4 entries at once, except at
/// the end of a row.
__global__ void __launch_bounds__(common_threads, 1)
    common_shape_kernel(const float* rows, std::int64_t stride, int vocabulary, const float* uniform, int* tokens) {
  __shared__ float warps[32];
  __shared__ int found;
  const float* const p = rows + 2 * stride * blockIdx.x;
  const float* const q = p + stride;
  float total = 0;
  for (int start = 0; start < vocabulary; start += common_tile) {
    const int i = start + 4 * static_cast<int>(threadIdx.x);
    const float4 own = i < vocabulary ? residual_of(p, q, i, vocabulary) : float4{0, 0, 0, 0};
    total += sum_of_block(own.x + own.y + own.z + own.w, warps);
  }
  const float threshold = uniform[blockIdx.x] * total;
  if (threadIdx.x == 0) found = vocabulary - 1;
  float below = 0;
  for (int start = 0; start < vocabulary; start += common_tile) {
    const int i = start + 4 * static_cast<int>(threadIdx.x);
    const float4 own = i < vocabulary ? residual_of(p, q, i, vocabulary) : float4{0, 0, 0, 0};
    const float mine = own.x + own.y + own.z + own.w, tile = sum_of_block(mine, warps);
    if (below + tile > threshold) {
      // This tile contains the token. Running sums over its lanes and then its warps find it.
      float running = mine;
      const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
      for (int step = 1; step < 32; step *= 2) {
        const float before = __shfl_up_sync(~0u, running, step);
        if (lane >= step) running += before;
      }
      if (lane == 31) warps[warp] = running;
      __syncthreads();
      for (int w = 0; w < warp; ++w) running += warps[w];
      running += below;
      if (running > threshold && running - mine <= threshold) {
        float at = running - mine;
        for (int j = 0; j < 4; ++j) {
          at += (&own.x)[j];
          if (at > threshold) {
            atomicMin(&found, i + j);
            break;
          }
        }
      }
      break;
    }
    below += tile;
  }
  __syncthreads();
  if (threadIdx.x == 0) tokens[blockIdx.x] = found;
}

}  // namespace draftproof::gpu_bench
