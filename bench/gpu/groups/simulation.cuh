// Times simulation on flat distributions, and on distributions with one dominant token.
#pragma once

#include <draftproof/bench/gpu/run.cuh>
#include <draftproof/bench/gpu/simulated_trials.cuh>

namespace draftproof::gpu_bench {

struct Simulation {
  static void run(Run& run) {
    for (const bool peaked : {false, true}) {
      const SimulatedTrials simulated(peaked);
      const double time = run.microseconds([&](cudaStream_t stream) { simulated.queue(stream); });
      simulated.check(run.stream());
      run.add({.name = peaked ? "simulate/peaked" : "simulate/flat",
               .microseconds = time,
               .trials = static_cast<double>(SimulatedTrials::trials)});
    }
  }
};

}  // namespace draftproof::gpu_bench
