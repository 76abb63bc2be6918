// Benchmarks of kernels on the device at hand: floors, a baseline of the common shape, and ours, in one run.
//
//   draftproof_gpu_bench [--output FILE] [--quick]
//
// Prints a table with times and ratios, and the goals; writes the same as JSON. Exit code 77 without a device.
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <draftproof/bench/gpu/common_shape.cuh>
#include <draftproof/bench/gpu/floors.cuh>
#include <draftproof/bench/gpu/path_batch.cuh>
#include <draftproof/bench/gpu/refused_batch.cuh>
#include <draftproof/bench/gpu/results.hpp>
#include <draftproof/bench/gpu/simulated_trials.cuh>
#include <draftproof/bench/gpu/sorted_laws.cuh>
#include <draftproof/bench/gpu/stopwatch.cuh>
#include <draftproof/gpu/launch.hpp>
#include <draftproof/gpu/teams/cluster_launch.cuh>
#include <draftproof/gpu/verify_passages.hpp>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/paths/block.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>

namespace draftproof::gpu_bench {
namespace {

class Run {
 public:
  Run(Results& results, const cudaDeviceProp& device) : results_{results}, device_{device} {}

  void floors() {
    results_.add({.name = "floor/empty_kernel", .microseconds = watch_.microseconds([](cudaStream_t stream) {
                    empty_kernel<<<1, 32, 0, stream>>>();
                  })});
    if (device_.major >= 9)
      results_.add({.name = "floor/cluster_meeting", .microseconds = watch_.microseconds([](cudaStream_t stream) {
                      gpu::launch_clusters(meeting_kernel, 1, 8, gpu_threads, 0, stream);
                    })});
    // Far beyond the second-level cache: 1 GiB read, and 1 GiB copied.
    constexpr std::size_t bytes = std::size_t{1} << 30, count = bytes / sizeof(uint4);
    const gpu::DeviceBuffer<uint4> from(nullptr, count), to(nullptr, count);
    device_call("cudaMemset", cudaMemset(from.data(), 1, bytes));
    const auto blocks = static_cast<unsigned>(device_.multiProcessorCount * 8);
    const double copy = watch_.microseconds(
        [&](cudaStream_t stream) { copy_kernel<<<blocks, 512, 0, stream>>>(from.data(), to.data(), count); });
    const double read = watch_.microseconds(
        [&](cudaStream_t stream) { read_kernel<<<blocks, 512, 0, stream>>>(from.data(), nullptr, count); });
    // A copy moves its bytes twice.
    results_.add({.name = "floor/copy", .microseconds = copy, .bytes = 2.0 * bytes});
    results_.add({.name = "floor/read", .microseconds = read, .bytes = 1.0 * bytes});
  }

  /// Simulation where tokens are many and alike, and where one of them is nearly all there is.
  void trials() {
    for (const bool peaked : {false, true}) {
      const SimulatedTrials simulated(peaked);
      const double time = watch_.microseconds([&](cudaStream_t stream) { simulated.queue(stream); });
      simulated.check(watch_.stream());
      results_.add({.name = peaked ? "simulate/peaked" : "simulate/flat",
                    .microseconds = time,
                    .trials = static_cast<double>(SimulatedTrials::trials)});
    }
  }

  /// The order of p / q of B positions, their optima, and the table of one.
  void orders(int count, int vocabulary) {
    const std::string where = "/" + std::to_string(vocabulary) + "/" + std::to_string(count);
    const SortedLaws laws(count, vocabulary, static_cast<std::size_t>(device_.l2CacheSize));
    const double sort = watch_.microseconds([&](cudaStream_t stream) { laws.queue_sort(stream); });
    const double optimum = watch_.microseconds([&](cudaStream_t stream) { laws.queue_optimum(stream); });
    laws.check();
    results_.add({.name = "sort_of_ratios" + where, .microseconds = sort});
    results_.add({.name = "iid_optimum" + where, .microseconds = optimum});
    if (count == 1) results_.add({.name = "ratio_table" + where, .microseconds = laws.table_microseconds()});
  }

  /// Everything about B positions of V tokens.
  void positions(int count, int vocabulary) {
    const std::string where = "/" + std::to_string(vocabulary) + "/" + std::to_string(count);
    for (const int drafts : {1, 4, 16}) {
      const RefusedBatches batches(count, vocabulary, drafts, static_cast<std::size_t>(device_.l2CacheSize));
      const std::string name = where + "/" + std::to_string(drafts);
      for (const gpu::Mapping mapping : {gpu::Mapping::automatic, gpu::Mapping::warp, gpu::Mapping::block,
                                         gpu::Mapping::cluster, gpu::Mapping::split}) {
        if (!can(mapping, count, vocabulary)) continue;
        const std::string by = std::string(gpu::name_of(mapping));
        ours("recursive_rejection/" + by + name, verifiers::RecursiveRejection{}, batches, mapping);
        if (drafts == 4 && mapping == gpu::Mapping::automatic) {
          ours("k_seq/" + by + name, verifiers::KSeq{}, batches, mapping);
        }
      }
      if (drafts == 1) common(where, count, vocabulary, batches);
    }
  }

  /// Blocks of 8 drafted tokens, and as many single refusals on rows of as many positions.
  void blocks(int requests, int vocabulary) {
    constexpr int length = 8;
    const std::string where = "/" + std::to_string(vocabulary) + "/" + std::to_string(requests);
    const auto cache = static_cast<std::size_t>(device_.l2CacheSize);
    {
      const PathBatches paths(requests, vocabulary, length, cache);
      for (const gpu::Mapping mapping : {gpu::Mapping::automatic, gpu::Mapping::block, gpu::Mapping::split}) {
        const double all = watch_.microseconds([&](cudaStream_t stream) {
          for (int set = 0; set < paths.sets(); ++set)
            gpu::verify_passages(verifiers::paths::Block{}, paths.batch(set), stream, mapping);
        });
        const std::string name = "block_of_8/" + std::string(gpu::name_of(mapping)) + where;
        int stopped_below = 0;
        for (const Passage& passage : paths.passages()) {
          if (passage.extra.token < 0) throw std::runtime_error(name + ": a passage without a token");
          stopped_below += passage.node > 1;
        }
        if (10 * stopped_below > requests)
          throw std::runtime_error(name + ": tests succeeded that should cost a pass");
        results_.add({.name = name, .microseconds = all / paths.sets(), .bytes = paths.bytes()});
      }
    }
    const RefusedBatches single(requests * length, vocabulary, 1, cache);
    ours("eight_refusals/automatic" + where, verifiers::RecursiveRejection{}, single, gpu::Mapping::automatic);
    ours("eight_refusals/block" + where, verifiers::RecursiveRejection{}, single, gpu::Mapping::block);
  }

 private:
  static constexpr int gpu_threads = 512;

  bool can(gpu::Mapping mapping, int count, int vocabulary) const {
    // A warp alone on a large vocabulary, or a block for each of very few positions, says nothing that is not known.
    if (mapping == gpu::Mapping::warp && vocabulary > 8192) return false;
    try {
      gpu::mapped(mapping, gpu::this_device(), count, vocabulary, 1, sizeof(float));
      return true;
    } catch (const std::invalid_argument&) {
      return false;
    }
  }

  template <class V>
  void ours(const std::string& name, const V& verifier, const RefusedBatches& batches, gpu::Mapping mapping) {
    const double all = watch_.microseconds([&](cudaStream_t stream) {
      for (int set = 0; set < batches.sets(); ++set) gpu::verify_batch(verifier, batches.batch(set), stream, mapping);
    });
    for (const Verdict& verdict : batches.verdicts())
      if (verdict.token < most_refused || verdict.accepted >= 0)
        throw std::runtime_error(name + ": a draft was accepted");
    results_.add({.name = name, .microseconds = all / batches.sets(), .bytes = batches.bytes()});
  }

  void common(const std::string& where, int count, int vocabulary, const RefusedBatches& batches) {
    const std::vector<float> half(static_cast<std::size_t>(count), 0.5f);
    const gpu::DeviceBuffer<float> uniform(half.data(), half.size());
    const gpu::DeviceBuffer<int> tokens(nullptr, half.size());
    const double all = watch_.microseconds([&](cudaStream_t stream) {
      for (int set = 0; set < batches.sets(); ++set)
        common_shape_kernel<<<static_cast<unsigned>(count), common_threads, 0, stream>>>(
            batches.rows(set), batches.stride(), vocabulary, uniform.data(), tokens.data());
    });
    results_.add({.name = "common_shape" + where, .microseconds = all / batches.sets(), .bytes = batches.bytes()});
  }

  Results& results_;
  const cudaDeviceProp& device_;
  Stopwatch watch_;
};

int run(int argc, char** argv) {
  std::string output;
  bool quick = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--quick") {
      quick = true;
    } else if (argument == "--output" && i + 1 < argc) {
      output = argv[++i];
    } else {
      std::fprintf(stderr, "usage: draftproof_gpu_bench [--output FILE] [--quick]\n");
      return 2;
    }
  }
  if (gpu::device_count() == 0) {
    std::puts("skipped: no CUDA device");
    return 77;
  }
  cudaDeviceProp device{};
  device_call("cudaGetDeviceProperties", cudaGetDeviceProperties(&device, 0));
  Results results(device.name, device.major, device.minor);
  Run all(results, device);
  all.floors();
  all.trials();
  for (const int vocabulary : quick ? std::vector<int>{32000} : std::vector<int>{4096, 32000, 128256, 262144})
    for (const int positions : quick ? std::vector<int>{1, 128} : std::vector<int>{1, 8, 32, 128, 256})
      all.positions(positions, vocabulary);
  for (const int vocabulary : quick ? std::vector<int>{32000} : std::vector<int>{32000, 128256})
    for (const int requests : quick ? std::vector<int>{32} : std::vector<int>{1, 32})
      all.blocks(requests, vocabulary);
  for (const int vocabulary : quick ? std::vector<int>{32000} : std::vector<int>{32000, 128256})
    for (const int positions : {1, 16}) all.orders(positions, vocabulary);
  results.print();
  if (!output.empty()) results.write(output);
  return 0;
}

}  // namespace
}  // namespace draftproof::gpu_bench

int main(int argc, char** argv) try {
  return draftproof::gpu_bench::run(argc, argv);
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 4;
}
