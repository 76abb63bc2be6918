// simulate/VERIFIER/LAW/V/K: Monte Carlo on prepared tables, one thread, Philox numbers, histogram counted.
// naive/VERIFIER/LAW/V/K: the same trials by the same source on plain rows, O(K V) each: what the tables are
// worth.
#pragma once

#include <benchmark/benchmark.h>

#include <draftproof/bench/pair.hpp>

#include <draftproof/properties/simulation.hpp>

namespace draftproof::benchmarks {

struct Simulate {
  template <class L>
  static void run(benchmark::State& state, const AnyVerifier& verifier, const AnyDrafter& drafter, const L& laws,
                  int drafts, std::uint64_t tuples) {
    const Simulator<L> simulator({verifier, drafter, drafts, 1, 0, true}, laws);
    Tally tally = simulator.empty();
    std::uint64_t first = 0;
    for (auto _ : state) {
      simulator.run(first, tuples, tally);
      first += tuples;
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(first));
    state.counters["acceptance"] = static_cast<double>(tally.members) / static_cast<double>(tally.trials);
  }

  static void add() {
    for (const auto& verifier : registry().verifiers())
      for (const AnyDrafter* drafter : registry().drafters_of(verifier->info()))
        for (const int vocabulary : vocabularies)
          for (const int drafts : {1, 4}) {
            if (!verifier->takes(drafts) || !verifier->info().cannot.simulate.empty() ||
                drafter->info().several_proposals)
              continue;
            const auto name = [&](const char* mode) {
              return std::string(mode) + "/" + std::string(verifier->info().name) + "/" +
                     std::string(drafter->info().name) + "/" + std::to_string(vocabulary) + "/" +
                     std::to_string(drafts);
            };
            const AnyVerifier& subject = *verifier;
            const bool races = verifier->info().shared_noise || drafter->info().shared_noise();
            const std::uint64_t tuples = races ? 16 : 16384;  // a race passes over the vocabulary
            benchmark::RegisterBenchmark(name("simulate").c_str(),
                                         [&subject, drafter, vocabulary, drafts, tuples](auto& state) {
                                           run(state, subject, *drafter, pair_of(vocabulary).table, drafts, tuples);
                                         });
            benchmark::RegisterBenchmark(name("naive").c_str(), [&subject, drafter, vocabulary, drafts](auto& state) {
              run(state, subject, *drafter, pair_of(vocabulary).plain, drafts, 16);
            });
          }
  }
};

}  // namespace draftproof::benchmarks
