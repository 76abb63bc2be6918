// Times verification from logits in every format (softmax and a refusal), and softmax of the same rows alone.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <draftproof/bench/gpu/refused_logits.cuh>
#include <draftproof/bench/gpu/run.cuh>
#include <draftproof/bench/gpu/softmax_rows.cuh>
#include <draftproof/verifiers/recursive_rejection.hpp>

namespace draftproof::gpu_bench {

struct Logits {
  static void run(Run& run) {
    for (const int count : run.quick ? std::vector<int>{32} : std::vector<int>{1, 32, 256}) {
      const int vocabulary = run.quick ? 32000 : 128256;
      time<float>(run, "float32", count, vocabulary);
      time<Bfloat16>(run, "bfloat16", count, vocabulary);
      time<Half>(run, "float16", count, vocabulary);
    }
  }

 private:
  template <class Entry>
  static void time(Run& run, const std::string& format, int count, int vocabulary) {
    const RefusedLogits<Entry> batches(count, vocabulary, 4, run.cache_bytes());
    softmax(run, "softmax_" + format + where(vocabulary, count), batches, count, vocabulary);
    for (const gpu::Mapping mapping :
         {gpu::Mapping::automatic, gpu::Mapping::block, gpu::Mapping::cluster, gpu::Mapping::split}) {
      if (!run.can(verifiers::RecursiveRejection{}, mapping, count, vocabulary)) continue;
      const std::string name =
          "logits_" + format + "/" + std::string(gpu::name_of(mapping)) + where(vocabulary, count) + "/4";
      const std::size_t bytes =
          gpu::workspace_bytes<verifiers::RecursiveRejection>(batches.batch(0), {.mapping = mapping});
      const gpu::DeviceBuffer<char> workspace(nullptr, bytes + 1);
      run.add_sets(name, batches, [&](int set, cudaStream_t stream) {
        gpu::verify_batch(verifiers::RecursiveRejection{}, batches.batch(set), stream,
                          {.mapping = mapping, .workspace = workspace.data(), .workspace_bytes = bytes});
      });
      Run::expect_refusals(name, batches.verdicts());
    }
  }

  template <class Entry>
  static void softmax(Run& run, const std::string& name, const RefusedLogits<Entry>& batches, int count,
                      int vocabulary) {
    const auto rows = static_cast<unsigned>(2 * count);
    const gpu::DeviceBuffer<float> out(nullptr, static_cast<std::size_t>(batches.stride()) * rows);
    run.add_sets(name, batches, [&](int set, cudaStream_t stream) {
      softmax_rows_kernel<<<rows, common_threads, 0, stream>>>(batches.rows(set), batches.stride(), vocabulary,
                                                               out.data());
    });
  }
};

}  // namespace draftproof::gpu_bench
