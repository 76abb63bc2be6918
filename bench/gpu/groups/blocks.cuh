// Times block verification of 8 drafted tokens per request and, for comparison, 8 positions with one refused draft.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <draftproof/bench/gpu/path_batch.cuh>
#include <draftproof/bench/gpu/run.cuh>
#include <draftproof/gpu/verify_steps.hpp>
#include <draftproof/verifiers/paths/block.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>

namespace draftproof::gpu_bench {

struct Blocks {
  static constexpr int length = 8;

  static void run(Run& run) {
    for (const int vocabulary : run.quick ? std::vector<int>{32000} : std::vector<int>{32000, 128256})
      for (const int requests : run.quick ? std::vector<int>{32} : std::vector<int>{1, 32}) {
        blocks(run, requests, vocabulary);
        const RefusedBatches single(requests * length, vocabulary, 1, run.cache_bytes());
        for (const gpu::Mapping mapping : {gpu::Mapping::automatic, gpu::Mapping::block})
          run.add_refused("eight_refusals/" + std::string(gpu::name_of(mapping)) + where(vocabulary, requests),
                          verifiers::RecursiveRejection{}, single, mapping);
      }
  }

 private:
  static void blocks(Run& run, int requests, int vocabulary) {
    const PathBatches paths(requests, vocabulary, length, run.cache_bytes());
    for (const gpu::Mapping mapping : {gpu::Mapping::automatic, gpu::Mapping::block, gpu::Mapping::split}) {
      const std::string name = "block_of_8/" + std::string(gpu::name_of(mapping)) + where(vocabulary, requests);
      run.add_sets(name, paths, [&](int set, cudaStream_t stream) {
        gpu::verify_steps(verifiers::paths::Block{}, paths.batch(set), stream, mapping);
      });
      int stopped_below = 0;
      for (const StepOutput& step : paths.steps()) {
        if (step.extra.token < 0) throw std::runtime_error(name + ": a step without a token");
        stopped_below += step.node > 1;
      }
      if (10 * stopped_below > requests)
        throw std::runtime_error(name +
                                 ": got 2 or more accepted drafts in over a tenth of the steps, expected fewer");
    }
  }
};

}  // namespace draftproof::gpu_bench
