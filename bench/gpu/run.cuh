// One run of the benchmarks: the device, the stopwatch and the results.
//
// A group of benchmarks is a file of bench/gpu/groups/ that defines a type with the name of the file and a function
// run(Run&). The build finds these files.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <draftproof/bench/gpu/refused_batch.cuh>
#include <draftproof/bench/gpu/results.hpp>
#include <draftproof/bench/gpu/stopwatch.cuh>
#include <draftproof/gpu/verify_batch.hpp>

namespace draftproof::gpu_bench {

class Run {
 public:
  Run(Results& results, const cudaDeviceProp& device, bool is_quick)
      : quick{is_quick}, results_{results}, device_{device} {}

  const bool quick;  ///< whether to run only a small size of each benchmark

  const cudaDeviceProp& device() const { return device_; }
  std::size_t cache_bytes() const { return static_cast<std::size_t>(device_.l2CacheSize); }
  cudaStream_t stream() const { return watch_.stream(); }
  void add(Result result) { results_.add(std::move(result)); }
  /// Returns the median microseconds of one call of queue(stream).
  template <class Queue>
  double microseconds(const Queue& queue) {
    return watch_.microseconds(queue);
  }

  /// Whether this mapping can run the verifier on the device for this number of positions and tokens.
  template <class V>
  bool can(const V&, gpu::Mapping mapping, int positions, int vocabulary) const {
    try {
      gpu::mapped(mapping, gpu::beside_plans(gpu::this_device(), gpu::plan_bytes<V>), positions, vocabulary, 1,
                  sizeof(float));
      return true;
    } catch (const std::invalid_argument&) {
      return false;
    }
  }

  /// Times queue(set, stream) over all sets of `batches`. Adds a result with the mean time and the bytes of one set.
  template <class Batches, class Queue>
  void add_sets(const std::string& name, const Batches& batches, const Queue& queue) {
    const double all = microseconds([&](cudaStream_t stream) {
      for (int set = 0; set < batches.sets(); ++set) queue(set, stream);
    });
    add({.name = name, .microseconds = all / batches.sets(), .bytes = batches.bytes()});
  }

  /// Times a verifier on batches whose drafts are all refused. Throws: std::runtime_error if a draft was accepted.
  template <class V>
  void add_refused(const std::string& name, const V& verifier, const RefusedBatches& batches, gpu::Mapping mapping) {
    add_sets(name, batches,
             [&](int set, cudaStream_t stream) { gpu::verify_batch(verifier, batches.batch(set), stream, mapping); });
    expect_refusals(name, batches.verdicts());
  }
  static void expect_refusals(const std::string& name, const std::vector<Verdict>& verdicts) {
    for (const Verdict& verdict : verdicts)
      if (verdict.token < most_refused || verdict.accepted >= 0)
        throw std::runtime_error(name + ": a draft was accepted");
  }

 private:
  Results& results_;
  const cudaDeviceProp& device_;
  Stopwatch watch_;
};

/// Returns "/V/B", the end of a benchmark's name.
inline std::string where(int vocabulary, int positions) {
  return "/" + std::to_string(vocabulary) + "/" + std::to_string(positions);
}

}  // namespace draftproof::gpu_bench
