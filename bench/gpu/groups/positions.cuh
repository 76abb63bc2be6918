// Positions whose drafts are all refused, by every mapping, and the kernel of the common shape on the same rows.
#pragma once

#include <string>
#include <vector>

#include <draftproof/bench/gpu/common_shape.cuh>
#include <draftproof/bench/gpu/run.cuh>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>

namespace draftproof::gpu_bench {

struct Positions {
  static void run(Run& run) {
    for (const int vocabulary : run.quick ? std::vector<int>{32000} : std::vector<int>{4096, 32000, 128256, 262144})
      for (const int count : run.quick ? std::vector<int>{1, 128} : std::vector<int>{1, 8, 32, 128, 256})
        for (const int drafts : {1, 4, 16}) time(run, count, vocabulary, drafts);
  }

 private:
  static void time(Run& run, int count, int vocabulary, int drafts) {
    const RefusedBatches batches(count, vocabulary, drafts, run.cache_bytes());
    const std::string name = where(vocabulary, count) + "/" + std::to_string(drafts);
    for (const gpu::Mapping mapping : {gpu::Mapping::automatic, gpu::Mapping::warp, gpu::Mapping::block,
                                       gpu::Mapping::cluster, gpu::Mapping::split}) {
      if (!run.can(mapping, count, vocabulary)) continue;
      const std::string by = std::string(gpu::name_of(mapping)) + name;
      run.add_refused("recursive_rejection/" + by, verifiers::RecursiveRejection{}, batches, mapping);
      if (drafts == 4 && mapping == gpu::Mapping::automatic)
        run.add_refused("k_seq/" + by, verifiers::KSeq{}, batches, mapping);
    }
    if (drafts == 1) common(run, count, vocabulary, batches);
  }

  static void common(Run& run, int count, int vocabulary, const RefusedBatches& batches) {
    const std::vector<float> half(static_cast<std::size_t>(count), 0.5f);
    const gpu::DeviceBuffer<float> uniform(half.data(), half.size());
    const gpu::DeviceBuffer<int> tokens(nullptr, half.size());
    run.add_sets("common_shape" + where(vocabulary, count), batches, [&](int set, cudaStream_t stream) {
      common_shape_kernel<<<static_cast<unsigned>(count), common_threads, 0, stream>>>(
          batches.rows(set), batches.stride(), vocabulary, uniform.data(), tokens.data());
    });
  }
};

}  // namespace draftproof::gpu_bench
