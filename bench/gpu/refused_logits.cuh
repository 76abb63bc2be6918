// The same batches as logits, in the format in which an engine has them: the device takes powers of e and divides,
// and no row of probabilities is written where a cluster holds both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

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
class RefusedLogits {
 public:
  RefusedLogits(int positions, int vocabulary, int drafts, std::size_t cache_bytes)
      : positions_{positions},
        vocabulary_{vocabulary},
        stride_{(vocabulary + 63) / 64 * 64},
        sets_{sets_beyond(cache_bytes, bytes())},
        rows_{nullptr, static_cast<std::size_t>(2 * stride_ * positions) * static_cast<std::size_t>(sets_)},
        drafts_{positions, drafts} {
    fill_logits_kernel<<<static_cast<unsigned>(positions * sets_), 512>>>(rows_.data(), stride_, vocabulary);
    gpu::device_call("cudaLaunchKernel", cudaGetLastError());
    gpu::device_call("cudaDeviceSynchronize", cudaDeviceSynchronize());
  }

  int sets() const { return sets_; }
  double bytes() const { return 2.0 * sizeof(Entry) * vocabulary_ * positions_; }
  gpu::StoredBatch batch(int set) const {
    gpu::StoredBatch view;
    view.format = gpu::format_of<Entry>;
    view.contents = gpu::Contents::logits;
    view.positions = positions_;
    view.vocabulary = vocabulary_;
    const Entry* const first = rows_.data() + 2 * stride_ * positions_ * set;
    view.target = first;
    view.proposal = first + stride_;
    view.target_stride = view.proposal_stride = 2 * stride_;
    drafts_.show(view);
    return view;
  }
  std::vector<Verdict> verdicts() const { return drafts_.verdicts(); }

 private:
  int positions_, vocabulary_;
  std::int64_t stride_;
  int sets_;
  gpu::DeviceBuffer<Entry> rows_;
  RefusedDrafts drafts_;
};

}  // namespace draftproof::gpu_bench
