// Times sorting the tokens by p / q and computing the i.i.d. optimum, each for one and for 16 positions, and building
// the ratio table of one position.
#pragma once

#include <vector>

#include <draftproof/bench/gpu/run.cuh>
#include <draftproof/bench/gpu/sorted_distributions.cuh>

namespace draftproof::gpu_bench {

struct Orders {
  static void run(Run& run) {
    for (const int vocabulary : run.quick ? std::vector<int>{32000} : std::vector<int>{32000, 128256})
      for (const int count : {1, 16}) {
        const SortedDistributions distributions(count, vocabulary, run.cache_bytes());
        const double sort = run.microseconds([&](cudaStream_t stream) { distributions.queue_sort(stream); });
        const double optimum = run.microseconds([&](cudaStream_t stream) { distributions.queue_optimum(stream); });
        distributions.check();
        run.add({.name = "sort_of_ratios" + where(vocabulary, count), .microseconds = sort});
        run.add({.name = "iid_optimum" + where(vocabulary, count), .microseconds = optimum});
        if (count == 1)
          run.add(
              {.name = "ratio_table" + where(vocabulary, count), .microseconds = distributions.table_microseconds()});
      }
  }
};

}  // namespace draftproof::gpu_bench
