// What an optimum costs from rows, nothing prepared:
//
//   floor/radix/V                        one radix sort of V (key, index) pairs, the unit of the others
//   table/V                              a ratio table of a pair
//   optimum/iid/V/K                      fresh rows to the i.i.d. optimum, sort included
//   optimum/without_replacement/V/K      the same without replacement, table included
//   optimum/scan/V/K                     the i.i.d. optimum from a table that is there
//
// Goals, as medians of one run with random interleaving, at V = 128,256: iid at most twice the floor,
// without_replacement at most 250 times.
#pragma once

#include <bit>

#include <benchmark/benchmark.h>

#include <draftproof/bench/pair.hpp>
#include <draftproof/bench/radix_floor.hpp>

#include <draftproof/optimum/exponential_clocks.hpp>
#include <draftproof/optimum/fresh_scan.hpp>

namespace draftproof::benchmarks {

struct Optimum {
  static void floor(benchmark::State& state, const Pair& pair) {
    std::vector<std::uint64_t> unsorted, pairs, spare;
    const auto& p = pair.rows.target;
    const auto& q = pair.rows.proposals.front();
    for (std::size_t x = 0; x < p.size(); ++x)
      unsorted.push_back(
          static_cast<std::uint64_t>(std::bit_cast<std::uint32_t>(static_cast<float>(p[x] / q[x]))) << 32 | x);
    spare.resize(unsorted.size());
    for (auto _ : state) {
      pairs = unsorted;  // a fiftieth of the sort
      radix_floor(pairs, spare);
      benchmark::DoNotOptimize(pairs.data());
    }
  }

  template <class Run>
  static void of_drafts(const char* what, int vocabulary, Run run) {
    for (const int drafts : {2, 4, 8})
      benchmark::RegisterBenchmark(
          (std::string("optimum/") + what + "/" + std::to_string(vocabulary) + "/" + std::to_string(drafts)).c_str(),
          [vocabulary, drafts, run](auto& state) {
            const Pair& pair = pair_of(vocabulary);
            double optimum = 0;
            for (auto _ : state) benchmark::DoNotOptimize(optimum = run(pair, drafts).acceptance);
            state.counters["optimum"] = optimum;
          })
          ->Unit(benchmark::kMillisecond);
  }

  static void add() {
    for (const int vocabulary : vocabularies) {
      const std::string size = std::to_string(vocabulary);
      benchmark::RegisterBenchmark(("floor/radix/" + size).c_str(), [vocabulary](auto& state) {
        floor(state, pair_of(vocabulary));
      })->Unit(benchmark::kMillisecond);
      benchmark::RegisterBenchmark(("table/" + size).c_str(), [vocabulary](auto& state) {
        const Pair& pair = pair_of(vocabulary);
        for (auto _ : state) benchmark::DoNotOptimize(RatioTable(pair.rows.target, pair.rows.proposals));
      })->Unit(benchmark::kMillisecond);
      of_drafts("iid", vocabulary, [](const Pair& pair, int drafts) {
        return fresh_iid_optimum(pair.rows.target, pair.rows.proposals.front(), drafts);
      });
      of_drafts("without_replacement", vocabulary, [](const Pair& pair, int drafts) {
        return without_replacement_optimum(RatioTable(pair.rows.target, pair.rows.proposals), drafts);
      });
      of_drafts("scan", vocabulary, [](const Pair& pair, int drafts) { return iid_optimum(pair.table, drafts); });
    }
  }
};

}  // namespace draftproof::benchmarks
