// Proofs in exact fractions, one thread:
//
//   prove/VERIFIER/DISTRIBUTION   60 generated instances; an item is an instance
//   prove/all            500 instances of every verifier and distribution that can be explored, as `draftproof prove`
//                        does
//   prove/kill_matrix    every mutant against every property, with every correct verifier as a control
#pragma once

#include <benchmark/benchmark.h>

#include <draftproof/bench/register_benchmark.hpp>
#include <draftproof/properties/mutation/kill_matrix.hpp>
#include <draftproof/properties/prover/prover.hpp>

namespace draftproof::benchmarks {

struct Prove {
  static constexpr int of_one = 60, of_all = 500;

  static bool provable(const AnyVerifier& verifier) {
    return verifier.kind() == Kind::verifier && verifier.info().unsupported.explore.empty();
  }

  static void count(benchmark::State& state, int instances, std::uint64_t branches) {
    state.SetItemsProcessed(instances);
    state.counters["branches/s"] = benchmark::Counter(static_cast<double>(branches), benchmark::Counter::kIsRate);
  }

  static void all(benchmark::State& state) {
    std::uint64_t branches = 0;
    int instances = 0;
    for (auto _ : state)
      for (const auto& verifier : registry().verifiers())
        for (const AnyDrafter* drafter : registry().drafters_of(verifier->info())) {
          if (!provable(*verifier)) continue;
          const Proof proof = prove(*verifier, *drafter, {.instances = of_all, .threads = 1, .stop = stop_flag()});
          branches += proof.leaves;
          instances += proof.instances;
        }
    count(state, instances, branches);
  }

  static void add() {
    for (const auto& verifier : registry().verifiers())
      for (const AnyDrafter* drafter : registry().drafters_of(verifier->info())) {
        if (!provable(*verifier)) continue;
        const AnyVerifier& subject = *verifier;
        const std::string name =
            "prove/" + std::string(subject.info().name) + "/" + std::string(drafter->info().name);
        benchmark::RegisterBenchmark(name.c_str(), [&subject, drafter](benchmark::State& state) {
          std::uint64_t branches = 0;
          int instances = 0;
          for (auto _ : state) {
            const Proof proof = prove(subject, *drafter, {.instances = of_one, .threads = 1});
            branches += proof.leaves;
            instances += proof.instances;
          }
          count(state, instances, branches);
        });
      }
    benchmark::RegisterBenchmark("prove/all", all)->Iterations(1)->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(
        "prove/kill_matrix",
        [](benchmark::State& state) {
          std::int64_t rows = 0;
          for (auto _ : state) {
            KillOptions options;
            options.proof.threads = 1;
            options.proof.stop = stop_flag();
            const KillMatrix matrix = kill_matrix(options);
            rows += std::ssize(matrix.rows) + std::ssize(matrix.controls);
            if (!matrix.clean()) state.SkipWithError("a mutant is not caught, or a correct verifier fails a check");
          }
          state.SetItemsProcessed(rows);
        })
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
};

}  // namespace draftproof::benchmarks
