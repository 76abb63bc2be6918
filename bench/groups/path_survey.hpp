// steps/VERIFIER/DISTRIBUTION/V/K/L: Monte Carlo of iterations on rows shared between trials, on one thread. In each
// iteration a tree is drafted, verified and counted. The contexts are rows of a parametric family.
#pragma once

#include <string>

#include <benchmark/benchmark.h>

#include <draftproof/properties/survey/path_survey.hpp>

namespace draftproof::benchmarks {

struct PathSurvey {
  static const PathSource& source(int vocabulary) {
    static std::map<int, std::unique_ptr<PathSource>> sources;
    auto& made = sources[vocabulary];
    if (!made)
      made = PathSource::open(
          "gaussian_logits:sigma=2.5,noise=1,positions=16,vocabulary=" + std::to_string(vocabulary), {});
    return *made;
  }

  static void run(benchmark::State& state, const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter,
                  int vocabulary, int drafts, int length, std::uint64_t trials) {
    const StepRun what{.verifier = verifier,
                       .drafter = drafter,
                       .shape = shape_of(drafter, drafts, length),
                       .seed = 1,
                       .iterations = 8};
    StepTally tally;
    for (auto _ : state)
      tally += simulate_paths(what, source(vocabulary), {.trials = trials, .threads = 1, .shard = trials});
    state.SetItemsProcessed(static_cast<std::int64_t>(tally.steps));
    state.counters["accepted"] = tally.mean_accepted();
  }

  static void add() {
    for (const auto& verifier : path_registry().verifiers())
      for (const AnyTreeDrafter* drafter : path_registry().drafters_of(verifier->info()))
        for (const int vocabulary : {512, 32000})
          for (const int drafts : {1, 4}) {
            if (!verifier->takes(drafts) || !verifier->info().unsupported.simulate.empty()) continue;
            const AnyPathVerifier& subject = *verifier;
            const std::string name = "steps/" + std::string(verifier->info().name) + "/" +
                                     std::string(drafter->info().name) + "/" + std::to_string(vocabulary) + "/" +
                                     std::to_string(drafts) + "/4";
            const bool races = verifier->info().shared_noise || drafter->info().shared_noise();
            // Shared noise needs exponential races, which read the whole vocabulary, so fewer trials are run.
            const std::uint64_t trials = races ? 4 : 2048;
            benchmark::RegisterBenchmark(name.c_str(),
                                         [&subject, drafter, vocabulary, drafts, trials](benchmark::State& state) {
                                           run(state, subject, *drafter, vocabulary, drafts, 4, trials);
                                         });
          }
  }
};

}  // namespace draftproof::benchmarks
