// Peers: other software on the same rows in the same run. Each peer is a child process, whose processor time is
// reported.
//
//   peer/numpy/PROGRAM/V/K   recursive rejection in numpy, five ways (peers/numpy_peer.py); an item is a trial
//   peer/scipy/highs/V/K     the optimum by scipy's linear program (peers/scipy_peer.py); an item is an optimum
//
// Goals use `expert` and `loop_wor`; `batched` and `loop` are typical test code. Each iteration is one call; the start
// of the interpreter is not timed. If no interpreter has the modules, the benchmarks are skipped with this reason.
#pragma once

#include <string>

#include <benchmark/benchmark.h>

#include <draftproof/bench/goal.hpp>
#include <draftproof/bench/pair.hpp>
#include <draftproof/bench/peers/python.hpp>

namespace draftproof::benchmarks {

struct Peers {
  /// `items` names the member of the answer that counts items; if it is empty, each call is one item.
  static void run(benchmark::State& state, std::string_view script, const std::string& module, const RowPair& rows,
                  const std::vector<std::string>& words, const char* items, const char* shown) {
    std::int64_t done = 0;
    for (auto _ : state) {
      const PeerAnswer answer = ask_peer(script, module, rows.target, rows.proposals.front(), words);
      if (!answer.error.empty()) {
        state.SkipWithError(answer.error.c_str());
        return;
      }
      state.SetIterationTime(answer.data.at("seconds"));
      done += *items ? answer.data.at(items).get<std::int64_t>() : 1;
      state.counters[shown] = answer.data.at(shown).get<double>();
    }
    state.SetItemsProcessed(done);
  }

  static void add_numpy(const char* program, int vocabulary, int drafts) {
    const std::string name =
        std::string("peer/numpy/") + program + "/" + std::to_string(vocabulary) + "/" + std::to_string(drafts);
    benchmark::RegisterBenchmark(name.c_str(),
                                 [program, vocabulary, drafts](benchmark::State& state) {
                                   run(state, "numpy_peer", "numpy", pair_of(vocabulary).rows,
                                       {"--program", program, "--drafts", std::to_string(drafts)}, "trials",
                                       "acceptance");
                                 })
        ->Iterations(1)
        ->UseManualTime();
  }

  static void add_scipy(int vocabulary, int drafts) {
    const std::string name = "peer/scipy/highs/" + std::to_string(vocabulary) + "/" + std::to_string(drafts);
    benchmark::RegisterBenchmark(name.c_str(),
                                 [vocabulary, drafts](benchmark::State& state) {
                                   run(state, "scipy_peer", "scipy", small_pair_of(vocabulary),
                                       {"--drafts", std::to_string(drafts)}, "", "optimum");
                                 })
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }

  static void add() {
    for (const int vocabulary : vocabularies)
      for (const int drafts : {1, 4}) {
        for (const char* program : {"expert", "choice", "batched", "loop"}) add_numpy(program, vocabulary, drafts);
        if (drafts > 1) add_numpy("loop_wor", vocabulary, drafts);
      }
    for (const auto& [vocabulary, drafts] : small_sizes) add_scipy(vocabulary, drafts);
  }
};

}  // namespace draftproof::benchmarks
