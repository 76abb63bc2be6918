// gate/V/LOG2_N: one evaluation of the statistical gate, K = 4, after 2^LOG2_N trials of recursive rejection on
// p ~ (rank + 2.7)^-1.1 and a q that differs from it by factors up to e^2. One core with OMP_NUM_THREADS=1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <draftproof/properties/statistics/gate_suite.hpp>
#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof::benchmarks {

struct Gate {
  static double uniform(std::uint64_t cell) {
    return static_cast<double>(philox_pair(1, cell, 0, 5).first) * 0x1p-64;
  }

  static GateNull null_of(std::size_t vocabulary) {
    GateNull null{std::vector<double>(vocabulary), std::vector<double>(vocabulary)};
    auto& [p, q, paths, leak] = null;
    double p_sum = 0, q_sum = 0;
    for (std::size_t x = 0; x < vocabulary; ++x) {
      p_sum += p[x] = std::pow(static_cast<double>(x) + 2.7, -1.1);
      q_sum += q[x] = p[x] * std::exp(2 * uniform(x));
    }
    for (double& value : p) value /= p_sum;
    for (double& value : q) value /= q_sum;
    // With F(b) = sum (p - b q)+, a rejected draft turns the residual (p - b q)+ into (p - (b + F(b)) q)+.
    double b = 0;
    for (int k = 0; k <= 4; ++k) {
      std::vector<double> left(vocabulary);
      double mass = 0;
      for (std::size_t x = 0; x < vocabulary; ++x) mass += left[x] = std::max(p[x] - b * q[x], 0.0);
      for (std::size_t x = 0; k < 4 && x < vocabulary; ++x) left[x] = std::min(left[x], mass * q[x]);
      paths.push_back(std::move(left));
      b += mass;
    }
    return null;
  }

  static void run(benchmark::State& state, std::size_t vocabulary, int log2_trials) {
    const GateNull null = null_of(vocabulary);
    const GateSuite suite(null);
    GateCounts counts = suite.empty_counts();
    const double exposure = std::ldexp(1.0, log2_trials);
    // The counts resemble Poisson counts: each is drawn uniformly within 2 sqrt(mean) of its mean and rounded at
    // random.
    for (std::size_t k = 0; k < null.paths.size(); ++k)
      for (std::size_t x = 0; x < vocabulary; ++x) {
        const double mean = exposure * null.paths[k][x], u = uniform((k + 1) * vocabulary + x);
        counts.add(k, x,
                   static_cast<std::uint64_t>(std::max(mean + (4 * u - 2) * std::sqrt(mean) * (mean > 4), 0.0) + u));
      }
    for (auto _ : state) benchmark::DoNotOptimize(suite.evidence(counts, exposure).log_e);
    state.SetItemsProcessed(state.iterations());
  }

  static void add() {
    for (const std::size_t vocabulary : {32000u, 262144u})
      for (const int log2_trials : {17, 21, 24, 27}) {
        const std::string name = "gate/" + std::to_string(vocabulary) + "/" + std::to_string(log2_trials);
        benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
          run(state, vocabulary, log2_trials);
        })->Unit(benchmark::kMillisecond);
      }
  }
};

}  // namespace draftproof::benchmarks
