// Times one decision on fresh float32 rows, as in an engine: plan and verdict are computed anew for each decision.
//
//   cost/VERIFIER/DISTRIBUTION/V/K   hot: always the same rows, which stay in a cache that holds 8 V bytes
//   cold/VERIFIER/DISTRIBUTION/V/K   cold: every decision on another copy of the rows; all copies exceed the caches
//
// Counters, per decision: passes over V, bytes read by these passes, and the fraction of decisions that accepted a
// draft. Drafts are drawn beforehand.
#pragma once

#include <benchmark/benchmark.h>

#include <draftproof/bench/cold_rows.hpp>
#include <draftproof/bench/pair.hpp>
#include <draftproof/properties/subjects/timed_forms.hpp>

namespace draftproof::benchmarks {

struct Cost {
  template <class Fresh>
  static constexpr bool counts_passes = requires(const Fresh& rows) {
    rows.visited();
  };

  /// Returns the number of tokens that passes over the rows have read; 0 if the rows do not count them.
  template <class Fresh>
  static std::uint64_t visited(const Fresh& rows) {
    if constexpr (counts_passes<Fresh>)
      return rows.visited();
    else
      return 0;
  }

  /// `next` returns the rows of a decision.
  template <class Next>
  static void run(benchmark::State& state, TimedForm form, const AnyDrafter& drafter, int vocabulary, int drafts,
                  Next next) {
    // Drafts are taken from a table prepared beforehand, so drafting is not timed.
    constexpr int tuples = 1024;
    std::vector<Token> tokens(static_cast<std::size_t>(tuples * drafts));
    std::vector<int> lengths(tuples);
    drafter.draw(pair_of(vocabulary).table, drafts, {1, 0, tuples, drafts, tokens.data(), lengths.data()});
    int t = 0;
    std::uint64_t seen = 0, taken = 0;
    for (auto _ : state) {
      const auto [target, proposal] = next();
      const FreshRows<float> rows(target, proposal);
      const auto decider = form(rows, drafts);
      Verdict verdict;
      decider->decide({2, static_cast<std::uint64_t>(t), 1, drafts, tokens.data() + t * drafts, lengths.data() + t},
                      &verdict);
      benchmark::DoNotOptimize(verdict);
      seen += visited(rows);
      taken += verdict.accepted != none_accepted;
      t = (t + 1) % tuples;
    }
    const auto decisions = static_cast<double>(state.iterations());
    state.SetItemsProcessed(state.iterations());
    state.counters["acceptance"] = static_cast<double>(taken) / decisions;
    if constexpr (counts_passes<FreshRows<float>>) {
      state.counters["passes"] = static_cast<double>(seen) / decisions / vocabulary;
      state.counters["bytes"] = static_cast<double>(seen) / decisions * 2 * sizeof(float);
    }
  }

  static void hot(benchmark::State& state, TimedForm form, const AnyDrafter& drafter, int vocabulary, int drafts) {
    const RowPair& pair = pair_of(vocabulary).rows;
    const std::vector<float> target(pair.target.begin(), pair.target.end());
    const std::vector<float> proposal(pair.proposals[0].begin(), pair.proposals[0].end());
    run(state, form, drafter, vocabulary, drafts, [&] { return ColdRows::View{target, proposal}; });
  }

  static void cold(benchmark::State& state, TimedForm form, const AnyDrafter& drafter, int vocabulary, int drafts) {
    ColdRows* rows = ColdRows::holding(vocabulary);
    if (!rows) {
      state.SkipWithError("too little memory for rows that no cache holds");
      return;
    }
    run(state, form, drafter, vocabulary, drafts, [rows] { return rows->next(); });
  }

  static void add() {
    for (const auto& verifier : registry().verifiers())
      for (const AnyDrafter* drafter : registry().drafters_of(verifier->info()))
        for (const int vocabulary : vocabularies)
          for (const int drafts : {1, 4}) {
            const TimedForm form = timed_form<TimedForm>(verifier->info().name);
            if (form == nullptr || !verifier->takes(drafts) || !verifier->info().derived_from.empty() ||
                drafter->info().several_proposals)
              continue;
            const std::string name = std::string(verifier->info().name) + "/" + std::string(drafter->info().name) +
                                     "/" + std::to_string(vocabulary) + "/" + std::to_string(drafts);
            benchmark::RegisterBenchmark(("cost/" + name).c_str(),
                                         [form, drafter, vocabulary, drafts](benchmark::State& state) {
                                           hot(state, form, *drafter, vocabulary, drafts);
                                         });
            if (verifier->kind() != Kind::verifier) continue;
            benchmark::RegisterBenchmark(("cold/" + name).c_str(),
                                         [form, drafter, vocabulary, drafts](benchmark::State& state) {
                                           cold(state, form, *drafter, vocabulary, drafts);
                                         });
          }
  }
};

}  // namespace draftproof::benchmarks
