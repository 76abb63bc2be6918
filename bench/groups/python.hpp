// The time of checking a Python function, compared with bare calls of the function.
//
//   python/check/FUNCTION   processor seconds of a check with its draftproof process, less one second for the start of
//                           the process; for the wrong verifier no second is subtracted, because its check ends at
//                           the refutation
//   python/bare/FUNCTION    as many bare calls of the function on the same rows
//
// The functions are a correct chain verifier of six torch operators, a wrong chain verifier, and a drafter
// (peers/check_peer.py). If no interpreter has torch and the package, the benchmarks are skipped with this reason.
#pragma once

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <benchmark/benchmark.h>

#include <draftproof/bench/goal.hpp>
#include <draftproof/bench/pair.hpp>
#include <draftproof/bench/peers/python.hpp>

namespace draftproof::benchmarks {

struct Python {
  static void run(benchmark::State& state, const std::string& function, const std::string& measure) {
    std::error_code none;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", none);
    setenv("DRAFTPROOF_PROGRAM", program.c_str(), 0);
    const RowPair rows = small_pair_of(2);
    for (auto _ : state) {
      const PeerAnswer answer = ask_peer("check_peer", "torch, draftproof", rows.target, rows.proposals.front(),
                                         {"--function", function, "--measure", measure});
      if (!answer.error.empty()) {
        state.SkipWithError(answer.error.c_str());
        return;
      }
      state.SetIterationTime(answer.data.at("seconds"));
      state.counters["calls"] = answer.data.at("calls").get<double>();
    }
  }

  static void add() {
    for (const std::string function : {"right", "wrong", "draft"})
      for (const std::string measure : {"check", "bare"})
        benchmark::RegisterBenchmark(("python/" + measure + "/" + function).c_str(),
                                     [function, measure](benchmark::State& state) { run(state, function, measure); })
            ->Iterations(1)
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
    for (const std::string function : {"right", "draft"})
      found_goals().push_back(
          {"a check in Python, less one second for the start, against its bare calls: " + function,
           "python/check/" + function, "python/bare/" + function, Goal::Sense::at_most, 2.5});
  }
};

}  // namespace draftproof::benchmarks
