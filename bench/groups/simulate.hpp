// simulate/VERIFIER/DISTRIBUTION/V/K: Monte Carlo on prepared tables, one thread, Philox numbers, histogram counted.
// lazy/VERIFIER/DISTRIBUTION/V/K: the same verdicts, drawing only the drafts that the verifier reads.
// peaked/VERIFIER/DISTRIBUTION/V/K: the same with 0.99 of the mass of p and of q on one token.
// threads/1/VERIFIER/DISTRIBUTION/V/K, threads/2/..: on one and two threads, by wall-clock time.
// naive/VERIFIER/DISTRIBUTION/V/K: the same trials by the same code on plain rows, O(K V) each.
#pragma once

#include <algorithm>
#include <string>

#include <benchmark/benchmark.h>

#include <draftproof/bench/goal.hpp>
#include <draftproof/bench/pair.hpp>

#include <draftproof/properties/simulation/simulation.hpp>

namespace draftproof::benchmarks {

struct Simulate {
  template <class L>
  static void run(benchmark::State& state, const Simulation& what, const L& distributions, std::uint64_t tuples) {
    const Simulator<L> simulator(what, distributions);
    Tally tally = simulator.empty();
    std::uint64_t first = 0;
    for (auto _ : state) {
      simulator.run(first, tuples, tally);
      first += tuples;
    }
    report(state, tally);
  }

  static void run_on(benchmark::State& state, const Simulation& what, const RatioTable& table, int threads) {
    Tally tally;
    Simulation next = what;
    for (auto _ : state) {
      tally += simulate(next, table, {.trials = 1 << 20, .threads = threads});
      next.first += 1 << 20;
    }
    report(state, tally);
  }

  static void report(benchmark::State& state, const Tally& tally) {
    state.SetItemsProcessed(static_cast<std::int64_t>(tally.trials));
    state.counters["acceptance"] = static_cast<double>(tally.draft_emitted) / static_cast<double>(tally.trials);
  }

  static std::string name(const char* mode, const AnyVerifier& verifier, const AnyDrafter& drafter, int vocabulary,
                          int drafts) {
    return std::string(mode) + "/" + std::string(verifier.info().name) + "/" + std::string(drafter.info().name) +
           "/" + std::to_string(vocabulary) + "/" + std::to_string(drafts);
  }

  static void add() {
    for (const auto& verifier : registry().verifiers())
      for (const AnyDrafter* drafter : registry().drafters_of(verifier->info())) {
        const AnyVerifier& subject = *verifier;
        if (!subject.info().unsupported.simulate.empty() || drafter->info().several_proposals) continue;
        const bool curve = can_be_lazy(subject, *drafter) || subject.info().name == "k_seq";
        for (const int vocabulary : {4096, 32000, 128256, 262144})
          for (const int drafts : {1, 4, 16}) {
            if (!subject.takes(drafts) || (!curve && (vocabulary == 262144 || drafts == 16))) continue;
            add(subject, *drafter, vocabulary, drafts, curve);
          }
      }
    add_goals();
  }

  static void add(const AnyVerifier& verifier, const AnyDrafter& drafter, int vocabulary, int drafts, bool curve) {
    const Simulation what{.verifier = verifier, .drafter = drafter, .drafts = drafts, .seed = 1, .histogram = true};
    const bool races = verifier.info().shared_noise || drafter.info().shared_noise();
    // Shared noise needs exponential races, which read the whole vocabulary, so fewer trials are run.
    const std::uint64_t tuples = races ? 16 : 16384;
    const auto named = [&](const char* mode) { return name(mode, verifier, drafter, vocabulary, drafts); };
    benchmark::RegisterBenchmark(named("simulate").c_str(), [what, vocabulary, tuples](benchmark::State& state) {
      run(state, what, pair_of(vocabulary).table, tuples);
    });
    if (can_be_lazy(verifier, drafter) && drafts > 1)
      benchmark::RegisterBenchmark(named("lazy").c_str(), [what, vocabulary, tuples](benchmark::State& state) {
        Simulation lazily = what;
        lazily.lazy = true;
        run(state, lazily, pair_of(vocabulary).table, tuples);
      });
    if (curve && !races && drafts <= 4) {
      benchmark::RegisterBenchmark(named("peaked").c_str(), [what, vocabulary, tuples](benchmark::State& state) {
        run(state, what, peaked_pair_of(vocabulary).table, tuples);
      });
      benchmark::RegisterBenchmark(named("threads/1").c_str(), [what, vocabulary](benchmark::State& state) {
        run_on(state, what, pair_of(vocabulary).table, 1);
      })->UseRealTime();
      benchmark::RegisterBenchmark(named("threads/2").c_str(), [what, vocabulary](benchmark::State& state) {
        run_on(state, what, pair_of(vocabulary).table, 2);
      })->UseRealTime();
    }
    if (vocabulary <= 128256 && drafts <= 4)
      benchmark::RegisterBenchmark(named("naive").c_str(), [what, vocabulary](benchmark::State& state) {
        run(state, what, pair_of(vocabulary).plain, 16);
      });
  }

  static void add_goals() {
    const auto at_least = [](std::string what, std::string slower, std::string faster, double bound) {
      found_goals().push_back({std::move(what), std::move(slower), std::move(faster), Goal::Sense::at_least, bound});
    };
    const auto at_most = [](std::string what, std::string slower, std::string faster, double bound) {
      found_goals().push_back({std::move(what), std::move(slower), std::move(faster), Goal::Sense::at_most, bound});
    };
    const std::string single = "simulate/single_draft/iid/", with = "simulate/recursive_rejection/iid/",
                      without = "simulate/recursive_rejection_wor/without_replacement/";
    at_least("single draft against expert numpy", "peer/numpy/expert/4096/1", single + "4096/1", 6);
    at_least("single draft against expert numpy", "peer/numpy/expert/128256/1", single + "128256/1", 4);
    for (const std::string size : {"4096", "32000", "128256"})
      at_least("recursive rejection against expert numpy", "peer/numpy/expert/" + size + "/4", with + size + "/4",
               10);
    at_least("without replacement against plain rows", "naive/recursive_rejection_wor/without_replacement/128256/4",
             without + "128256/4", 1000);
    at_least("without replacement against a loop in numpy", "peer/numpy/loop_wor/128256/4", without + "128256/4",
             1000);
    at_most("without replacement against with: every trial evaluates a separate curve", without + "128256/4",
            with + "128256/4", 2);
    // With sixteen drafts, recursive rejection reads 1.84 times as many drafts as with four (docs/simulation.md).
    for (const std::string size : {"4096", "128256"})
      at_most("sixteen drafts, drawn lazily, against four", "lazy/recursive_rejection/iid/" + size + "/16",
              with + size + "/4", 2);
    // The goal is a rate at the largest vocabulary of at least 0.3 times the rate at the smallest.
    at_most("time of a trial at the largest vocabulary against the smallest", with + "262144/4", with + "4096/4",
            1 / 0.3);
    at_most("time of a trial at the largest vocabulary against the smallest", without + "262144/4",
            without + "4096/4", 1 / 0.3);
    const std::string scaled = "/recursive_rejection/iid/128256/4/real_time";
    at_least("two threads against one", "threads/1" + scaled, "threads/2" + scaled, 1.8);
  }
};

}  // namespace draftproof::benchmarks
