// Batches of requests with one drafted path each, for the worst case of block verification: nearly every test fails,
// so every node of the path costs a pass over its rows.
//
//   rows        as in refused_batch.cuh, one position per node and one for the path's end
//   path        tokens 0 .. L - 1, whose target is 0.3 of their proposal: after i tokens the product of ratios is
//               0.3^i, and the test after them succeeds with probability sum (0.3^i p - q)+, a few percent at i = 1 and
//               about 0 at larger i
//   passes      L per request, seldom L - 1; one draw
//
// Setting the targets of the path's tokens, at most 16, adds less than 2^-10 to the sum of a target row. The sum is
// then not 1, which does not matter because only the times are used.
#pragma once

#include <cstdint>
#include <vector>

#include <draftproof/bench/gpu/refused_batch.cuh>
#include <draftproof/gpu/step_batch.hpp>
#include <draftproof/gpu/tree_batch.hpp>

namespace draftproof::gpu_bench {

/// Sets the target of each drafted token to 0.3 of its proposal; one block per row.
__global__ void draft_kernel(float* rows, std::int64_t stride) {
  float* const p = rows + 2 * stride * blockIdx.x;
  const int x = static_cast<int>(threadIdx.x);
  p[x] = 0.3f * p[stride + x];
}

class PathBatches {
 public:
  PathBatches(int requests, int vocabulary, int length, std::size_t cache_bytes)
      : length_{length},
        rows_{requests * (length + 1), vocabulary, 1, cache_bytes},
        steps_{nullptr, static_cast<std::size_t>(requests)} {
    std::vector<Token> tokens;
    std::vector<std::int32_t> parents;
    for (int i = 0; i < length; ++i) {
      tokens.push_back(i);
      parents.push_back(i - 1);
    }
    gpu::TreeBatch trees(vocabulary);
    for (int i = 0; i < requests; ++i) trees.add(tokens, parents, std::int64_t{i} * (length + 1));
    trees.show(batch_);
    spans_ = DeviceBuffer<gpu::TreeSpan>(trees.trees().data(), trees.trees().size());
    nodes_ = DeviceBuffer<TreeNode>(trees.nodes().data(), trees.nodes().size());
    draws_ = DeviceBuffer<TreeDraw>(trees.draws().data(), trees.draws().size());
    batch_.trees = spans_.data();
    batch_.nodes = nodes_.data();
    batch_.draws = draws_.data();
    batch_.steps = steps_.data();
    batch_.target_stride = batch_.proposal_stride = 2 * rows_.stride();
    batch_.seed = 1;
    const auto all = static_cast<unsigned>(requests * (length + 1) * sets());
    draft_kernel<<<all, most_refused>>>(rows_.writable(), rows_.stride());
    gpu::device_call("cudaLaunchKernel", cudaGetLastError());
    gpu::device_call("cudaDeviceSynchronize", cudaDeviceSynchronize());
  }

  int sets() const { return rows_.sets(); }
  /// Returns the bytes of rows p and q of all nodes except the end of the path.
  double bytes() const { return rows_.bytes() * length_ / (length_ + 1); }
  gpu::StepBatch<float> batch(int set) const {
    gpu::StepBatch<float> view = batch_;
    view.target = rows_.rows(set);
    view.proposal = view.target + rows_.stride();
    return view;
  }
  std::vector<StepOutput> steps() const { return steps_.copy(); }

 private:
  template <class T>
  using DeviceBuffer = gpu::DeviceBuffer<T>;

  int length_;
  RefusedBatches rows_;
  DeviceBuffer<StepOutput> steps_;
  DeviceBuffer<gpu::TreeSpan> spans_{nullptr, 0};
  DeviceBuffer<TreeNode> nodes_{nullptr, 0};
  DeviceBuffer<TreeDraw> draws_{nullptr, 0};
  gpu::StepBatch<float> batch_;
};

}  // namespace draftproof::gpu_bench
