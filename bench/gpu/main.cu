// Benchmarks of kernels on the current device, in one run: lower bounds, the baseline of common_shape.cuh,
// and draftproof's kernels.
//
//   draftproof_gpu_bench [--output FILE] [--quick]
//
// Prints a table of times and ratios, and whether each goal is met. --output writes them to FILE as JSON. The exit
// code is 77 if there is no device.
#include <cstdio>
#include <exception>
#include <string>

#include <draftproof/bench/gpu/results.hpp>
#include <draftproof/bench/gpu/run.cuh>
#include <draftproof/found/gpu_benchmarks.hpp>
#include <draftproof/gpu/launch.hpp>

namespace draftproof::gpu_bench {
namespace {

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
  int driver = 0, runtime = 0;
  device_call("cudaDriverGetVersion", cudaDriverGetVersion(&driver));
  device_call("cudaRuntimeGetVersion", cudaRuntimeGetVersion(&runtime));
  Results results(device.name, device.major, device.minor, driver, runtime);
  Run all(results, device, quick);
  for_each_group([&]<class Group>(Group) {
    Group::run(all);
    if (!output.empty()) results.write(output);  // so that an interrupted run has written its results so far
  });
  if (!output.empty()) results.write(output);
  results.print();
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
