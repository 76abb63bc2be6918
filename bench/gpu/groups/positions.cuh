// Times positions whose drafts are all refused, with every mapping; and on the same rows the baseline kernel of
// common_shape.cuh and a copy.
#pragma once

#include <string>
#include <vector>

#include <draftproof/bench/gpu/common_shape.cuh>
#include <draftproof/bench/gpu/groups/lower_bounds.cuh>
#include <draftproof/bench/gpu/run.cuh>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/ladder.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>

namespace draftproof::gpu_bench {

struct Positions {
  static void run(Run& run) {
    for (const int vocabulary : run.quick ? std::vector<int>{32000} : std::vector<int>{4096, 32000, 128256, 262144})
      for (const int count : run.quick ? std::vector<int>{1, 64} : std::vector<int>{1, 8, 64, 256})
        for (const int drafts : {1, 4, 16}) time(run, count, vocabulary, drafts);
  }

 private:
  static void time(Run& run, int count, int vocabulary, int drafts) {
    const RefusedBatches batches(count, vocabulary, drafts, run.cache_bytes());
    const std::string name = where(vocabulary, count) + "/" + std::to_string(drafts);
    for (const gpu::Mapping mapping :
         {gpu::Mapping::automatic, gpu::Mapping::block, gpu::Mapping::cluster, gpu::Mapping::split}) {
      if (!run.can(verifiers::RecursiveRejection{}, mapping, count, vocabulary)) continue;
      const std::string by = std::string(gpu::name_of(mapping)) + name;
      run.add_refused("recursive_rejection/" + by, verifiers::RecursiveRejection{}, batches, mapping);
      if (drafts != 4) continue;
      if (run.can(verifiers::Ladder{}, mapping, count, vocabulary))
        run.add_refused("ladder/" + by, verifiers::Ladder{}, batches, mapping);
      if (mapping == gpu::Mapping::automatic) run.add_refused("k_seq/" + by, verifiers::KSeq{}, batches, mapping);
    }
    if (drafts != 1) return;
    common(run, count, vocabulary, batches);
    copy(run, count, vocabulary, batches);
  }

  /// Times a copy of half of the rows, whose reads and writes together have as many bytes as the rows.
  static void copy(Run& run, int count, int vocabulary, const RefusedBatches& batches) {
    const std::size_t chunks = static_cast<std::size_t>(batches.bytes()) / 2 / sizeof(uint4);
    const gpu::DeviceBuffer<uint4> to(nullptr, chunks * static_cast<std::size_t>(batches.sets()));
    const auto blocks = static_cast<unsigned>(run.device().multiProcessorCount * 8);
    run.add_sets("copy" + where(vocabulary, count), batches, [&](int set, cudaStream_t stream) {
      const auto* const from = reinterpret_cast<const uint4*>(batches.rows(set));
      copy_kernel<<<blocks, 512, 0, stream>>>(from, to.data() + chunks * static_cast<std::size_t>(set), chunks);
    });
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
