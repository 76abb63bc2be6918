// prove/VERIFIER/LAW: 60 generated instances in exact fractions, one thread.
#pragma once

#include <benchmark/benchmark.h>

#include <draftproof/properties/prover.hpp>

namespace draftproof::benchmarks {

struct Prove {
  static void add() {
    for (const auto& verifier : registry().verifiers())
      for (const AnyDrafter* drafter : registry().drafters_of(verifier->info())) {
        if (verifier->kind() == Kind::mutant || !verifier->info().cannot.explore.empty()) continue;
        const AnyVerifier& subject = *verifier;
        const std::string name =
            "prove/" + std::string(subject.info().name) + "/" + std::string(drafter->info().name);
        benchmark::RegisterBenchmark(name.c_str(), [&subject, drafter](auto& state) {
          std::uint64_t branches = 0;
          for (auto _ : state) branches += prove(subject, *drafter, {.instances = 60, .threads = 1}).leaves;
          state.counters["branches/s"] =
              benchmark::Counter(static_cast<double>(branches), benchmark::Counter::kIsRate);
        });
      }
  }
};

}  // namespace draftproof::benchmarks
