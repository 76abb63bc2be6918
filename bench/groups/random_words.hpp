// philox/scalar, philox/avx2, philox/avx512: random bits in bulk at every register width of the processor. An item
// is a block of two 64-bit words. The scalar form computes one block after the other, as a single trial does.
#pragma once

#include <array>
#include <numeric>
#include <string>

#include <benchmark/benchmark.h>

#include <draftproof/bench/goal.hpp>
#include <draftproof/sim/random/philox_simd_batch.hpp>

namespace draftproof::benchmarks {

struct RandomWords {
  static void run(benchmark::State& state, simd::Width width) {
    constexpr int trials = 1024;
    std::array<std::uint64_t, trials> trial, first, second;
    std::iota(trial.begin(), trial.end(), std::uint64_t{0});
    std::uint32_t slot = 0;
    for (auto _ : state) {
      simd::philox_fill(width, 1, trial.data(), trials, slot++, 2, first.data(), second.data());
      benchmark::DoNotOptimize(first.data());
      benchmark::DoNotOptimize(second.data());
      benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * trials);
  }

  static void add() {
    for (const simd::Width width : simd::widths_here()) {
      benchmark::RegisterBenchmark(("philox/" + std::string(simd::name_of(width))).c_str(),
                                   [width](benchmark::State& state) { run(state, width); });
    }
    found_goals().push_back({"random bits with AVX2, against one block after the other", "philox/scalar",
                             "philox/avx2", Goal::Sense::at_least, 1.3});
    found_goals().push_back({"random bits with AVX-512, against one block after the other", "philox/scalar",
                             "philox/avx512", Goal::Sense::at_least, 2});
  }
};

}  // namespace draftproof::benchmarks
