// Batches of positions whose drafts are all refused, made on the device. Rows are softmax of Gaussian logits; the
// proposal's logits are a noisy copy of the target's. The first tokens are masked in the target only and serve as
// drafts.
//
//   target logits    N(0, 2.5^2)           p = softmax, but 0 for tokens below most_refused
//   draft logits     target's + N(0, 1)    q = softmax
//   sets             copies of the batch with different rows, together far larger than the second-level cache, unless a
//                    set is small (sets_beyond). One replay visits all sets, so no row is in the cache when it is read.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <draftproof/gpu/batch.hpp>
#include <draftproof/gpu/device/device_buffer.cuh>
#include <draftproof/sim/random/philox4x32.hpp>
#include <draftproof/sim/random/uniform_source.hpp>

namespace draftproof::gpu_bench {

inline constexpr int most_refused = 16;

__device__ inline float normal_at(std::uint64_t row, std::uint32_t x, std::uint32_t stream) {
  const PhiloxPair pair = philox_pair(7, row, x, stream);
  const double u = unit_interval(pair.first) + 0x1p-54, v = unit_interval(pair.second);
  return static_cast<float>(sqrt(-2 * log(u)) * cospi(2 * v));
}

/// Writes p and then q, each `stride` entries: one block per position.
__global__ void fill_rows_kernel(float* rows, std::int64_t stride, int vocabulary, std::uint64_t first_row) {
  __shared__ double sums[2];
  float* const p = rows + 2 * stride * blockIdx.x;
  float* const q = p + stride;
  if (threadIdx.x < 2) sums[threadIdx.x] = 0;
  __syncthreads();
  const std::uint64_t row = first_row + blockIdx.x;
  double own_p = 0, own_q = 0;
  for (int x = static_cast<int>(threadIdx.x); x < vocabulary; x += static_cast<int>(blockDim.x)) {
    const float logit = 2.5f * normal_at(row, static_cast<std::uint32_t>(x), 1);
    p[x] = x < most_refused ? 0.0f : expf(logit);
    q[x] = expf(logit + normal_at(row, static_cast<std::uint32_t>(x), 2));
    own_p += static_cast<double>(p[x]);
    own_q += static_cast<double>(q[x]);
  }
  atomicAdd(sums, own_p);
  atomicAdd(sums + 1, own_q);
  __syncthreads();
  for (int x = static_cast<int>(threadIdx.x); x < vocabulary; x += static_cast<int>(blockDim.x)) {
    p[x] = static_cast<float>(static_cast<double>(p[x]) / sums[0]);
    q[x] = static_cast<float>(static_cast<double>(q[x]) / sums[1]);
  }
}

/// Returns the number of sets of `bytes` each that exceeds four times the second-level cache; at most 128, because a
/// run visits all sets in one graph, and the driver's stack overflows on a graph of tens of thousands of kernels. Sets
/// of less than a megabyte therefore do not exceed the cache, and their rows are read from the cache.
inline int sets_beyond(std::size_t cache_bytes, double bytes) {
  return std::min(128, static_cast<int>(4.0 * static_cast<double>(cache_bytes) / bytes) + 1);
}

/// Tokens 0 .. K - 1 as drafts of every position, and memory for the verdicts.
class RefusedDrafts {
 public:
  RefusedDrafts(int positions, int drafts)
      : drafts_{drafts}, verdicts_{nullptr, static_cast<std::size_t>(positions)} {
    std::vector<Token> drafted;
    for (int i = 0; i < positions; ++i)
      for (int k = 0; k < drafts; ++k) drafted.push_back(k);
    const std::vector<std::int32_t> counts(static_cast<std::size_t>(positions), drafts);
    tokens_ = gpu::DeviceBuffer<Token>(drafted.data(), drafted.size());
    counts_ = gpu::DeviceBuffer<std::int32_t>(counts.data(), counts.size());
  }
  template <class B>
  void show(B& batch) const {
    batch.drafts = tokens_.data();
    batch.draft_stride = drafts_;
    batch.counts = counts_.data();
    batch.seed = 1;
    batch.verdicts = verdicts_.data();
  }
  std::vector<Verdict> verdicts() const { return verdicts_.copy(); }

 private:
  int drafts_;
  gpu::DeviceBuffer<Token> tokens_{nullptr, 0};
  gpu::DeviceBuffer<std::int32_t> counts_{nullptr, 0};
  gpu::DeviceBuffer<Verdict> verdicts_;
};

/// Sets of rows of `positions` positions each: the target row and then the proposal row of each position, aligned to
/// lines of 128 bytes.
template <class Entry>
class RefusedRows {
 public:
  int sets() const { return sets_; }
  /// Returns the bytes of both rows of all positions of one set.
  double bytes() const { return 2.0 * sizeof(Entry) * vocabulary_ * positions_; }
  const Entry* rows(int set) const { return rows_.data() + 2 * stride_ * positions_ * set; }
  Entry* writable() const { return rows_.data(); }
  std::int64_t stride() const { return stride_; }
  std::vector<Verdict> verdicts() const { return drafts_.verdicts(); }

 protected:
  /// fill(blocks, rows, stride) launches a kernel with one block per position.
  template <class Fill>
  RefusedRows(int positions, int vocabulary, int drafts, std::size_t cache_bytes, const Fill& fill)
      : positions_{positions},
        vocabulary_{vocabulary},
        stride_{(vocabulary + line - 1) / line * line},
        sets_{sets_beyond(cache_bytes, 2.0 * sizeof(Entry) * static_cast<double>(stride_) * positions)},
        rows_{nullptr, static_cast<std::size_t>(2 * stride_ * positions) * static_cast<std::size_t>(sets_)},
        drafts_{positions, drafts} {
    fill(static_cast<unsigned>(positions * sets_), rows_.data(), stride_);
    gpu::device_call("cudaLaunchKernel", cudaGetLastError());
    gpu::device_call("cudaDeviceSynchronize", cudaDeviceSynchronize());
  }

  /// Returns a Batch or a StoredBatch of one set.
  template <class B>
  B view(int set) const {
    B batch;
    batch.positions = positions_;
    batch.vocabulary = vocabulary_;
    batch.target = rows(set);
    batch.proposal = rows(set) + stride_;
    batch.target_stride = batch.proposal_stride = 2 * stride_;
    drafts_.show(batch);
    return batch;
  }

 private:
  static constexpr std::int64_t line = 128 / sizeof(Entry);

  int positions_, vocabulary_;
  std::int64_t stride_;
  int sets_;
  gpu::DeviceBuffer<Entry> rows_;
  RefusedDrafts drafts_;
};

/// Sets of rows of probabilities.
class RefusedBatches : public RefusedRows<float> {
 public:
  RefusedBatches(int positions, int vocabulary, int drafts, std::size_t cache_bytes)
      : RefusedRows(positions, vocabulary, drafts, cache_bytes,
                    [vocabulary](unsigned blocks, float* rows, std::int64_t stride) {
                      fill_rows_kernel<<<blocks, 512>>>(rows, stride, vocabulary, 0);
                    }) {}

  gpu::Batch<float> batch(int set) const { return view<gpu::Batch<float>>(set); }
};

}  // namespace draftproof::gpu_bench
