// table/V: sorting a pair into a ratio table. optimum/iid/V/K: the ratio scan on a table.
#pragma once

#include <benchmark/benchmark.h>

#include <draftproof/bench/pair.hpp>

#include <draftproof/optimum/ratio_scan.hpp>

namespace draftproof::benchmarks {

struct Optimum {
  static void add() {
    for (const int vocabulary : vocabularies) {
      benchmark::RegisterBenchmark(("table/" + std::to_string(vocabulary)).c_str(), [vocabulary](auto& state) {
        const Pair& pair = pair_of(vocabulary);
        for (auto _ : state) benchmark::DoNotOptimize(RatioTable(pair.rows.target, pair.rows.proposals));
      });
      for (const int drafts : {2, 4, 8})
        benchmark::RegisterBenchmark(
            ("optimum/iid/" + std::to_string(vocabulary) + "/" + std::to_string(drafts)).c_str(),
            [vocabulary, drafts](auto& state) {
              const Pair& pair = pair_of(vocabulary);
              for (auto _ : state) benchmark::DoNotOptimize(iid_optimum(pair.table, drafts));
              state.counters["optimum"] = iid_optimum(pair.table, drafts).acceptance;
            });
    }
  }
};

}  // namespace draftproof::benchmarks
