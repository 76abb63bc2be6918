// The batches of refused_batch.cuh as logits, in an engine's format. The verifier computes their softmax on the device;
// if a cluster's shared memory holds both rows, the probabilities are not written to device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <draftproof/bench/gpu/refused_batch.cuh>
#include <draftproof/gpu/stored_batch.hpp>

namespace draftproof::gpu_bench {

inline constexpr float masked_logit = -std::numeric_limits<float>::infinity();

template <class Entry>
__global__ void fill_logits_kernel(Entry* rows, std::int64_t stride, int vocabulary) {
  Entry* const target = rows + 2 * stride * blockIdx.x;
  for (int x = static_cast<int>(threadIdx.x); x < vocabulary; x += static_cast<int>(blockDim.x)) {
    const float logit = 2.5f * normal_at(blockIdx.x, static_cast<std::uint32_t>(x), 1);
    const float draft = logit + normal_at(blockIdx.x, static_cast<std::uint32_t>(x), 2);
    target[x] = static_cast<Entry>(x < most_refused ? masked_logit : logit);
    target[stride + x] = static_cast<Entry>(draft);
  }
}

template <class Entry>
class RefusedLogits : public RefusedRows<Entry> {
 public:
  RefusedLogits(int positions, int vocabulary, int drafts, std::size_t cache_bytes)
      : RefusedRows<Entry>(positions, vocabulary, drafts, cache_bytes,
                           [vocabulary](unsigned blocks, Entry* rows, std::int64_t stride) {
                             fill_logits_kernel<<<blocks, 512>>>(rows, stride, vocabulary);
                           }) {}

  gpu::StoredBatch batch(int set) const {
    auto view = this->template view<gpu::StoredBatch>(set);
    view.format = gpu::format_of<Entry>;
    view.contents = gpu::Contents::logits;
    return view;
  }
};

}  // namespace draftproof::gpu_bench
