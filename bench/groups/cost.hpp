// cost/VERIFIER/LAW/V/K: one decision at fresh float32 rows, as an engine pays it: plan and verdict, nothing
// kept from the decision before. The rows are hot in whichever cache holds them.
#pragma once

#include <benchmark/benchmark.h>

#include <draftproof/bench/pair.hpp>

namespace draftproof::benchmarks {

struct Cost {
  static void run(benchmark::State& state, const AnyVerifier& verifier, const AnyDrafter& drafter, int vocabulary,
                  int drafts) {
    const Pair& pair = pair_of(vocabulary);
    const std::vector<float> target(pair.rows.target.begin(), pair.rows.target.end());
    const std::vector<float> proposal(pair.rows.proposals[0].begin(), pair.rows.proposals[0].end());
    // Drafts come from the prepared table beforehand: drafting is not what is timed.
    constexpr int tuples = 1024;
    std::vector<Token> tokens(static_cast<std::size_t>(tuples * drafts));
    std::vector<int> lengths(tuples);
    drafter.draw(pair.table, drafts, {1, 0, tuples, drafts, tokens.data(), lengths.data()});
    int t = 0;
    for (auto _ : state) {
      const FreshRows<float> rows(target, std::span<const float>(proposal));
      const auto decider = verifier.simulate_on(rows, drafts);
      Verdict verdict;
      decider->decide({2, static_cast<std::uint64_t>(t), 1, drafts, tokens.data() + t * drafts, lengths.data() + t},
                      &verdict);
      benchmark::DoNotOptimize(verdict);
      t = (t + 1) % tuples;
    }
    state.SetItemsProcessed(state.iterations());
  }

  static void add() {
    for (const auto& verifier : registry().verifiers())
      for (const AnyDrafter* drafter : registry().drafters_of(verifier->info()))
        for (const int vocabulary : vocabularies)
          for (const int drafts : {1, 4}) {
            if (!verifier->takes(drafts) || !verifier->info().cannot.fresh.empty() ||
                drafter->info().several_proposals)
              continue;
            const std::string name = "cost/" + std::string(verifier->info().name) + "/" +
                                     std::string(drafter->info().name) + "/" + std::to_string(vocabulary) + "/" +
                                     std::to_string(drafts);
            const AnyVerifier& subject = *verifier;
            benchmark::RegisterBenchmark(name.c_str(), [&subject, drafter, vocabulary, drafts](auto& state) {
              run(state, subject, *drafter, vocabulary, drafts);
            });
          }
  }
};

}  // namespace draftproof::benchmarks
