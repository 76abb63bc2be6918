// Runs registered benchmarks in rounds: every round takes all of them once, in an order of its own, so that what is
// compared is measured in the same minutes and a busy neighbour slows both sides.
//
//   round    one repetition of each; its order is drawn from (seed, round)
//   result   Google Benchmark's JSON with the goals beside it (results/results.hpp)
//
// Cost: a repetition is at least `min_time`, and finding out how many iterations that takes about as much again.
// Google Benchmark is asked for one repetition of one benchmark at a time: its own interleaving could not be stopped
// between two of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace draftproof::benchmarks {

struct RunOptions {
  int repetitions = 5;
  double min_time = 0.1;  ///< seconds a repetition
  double longest = 30;    ///< seconds after which a benchmark is not repeated
  bool interleave = true;
  std::uint64_t seed = 1;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::uint64_t done)> progress{};  ///< of names times repetitions
};

/// Names of everything registered, as Google Benchmark has them; the first call registers.
const std::vector<std::string>& registered_benchmarks();

/// Those whose plain names match one of the regular expressions; all if there are none. Throws InputError if an
/// expression is none, or matches nothing.
std::vector<std::string> choose_benchmarks(const std::vector<std::string>& names,
                                           const std::vector<std::string>& filters);

/// What was measured before `stop` was set. A benchmark that is skipped once is not asked again.
nlohmann::ordered_json run_benchmarks(const std::vector<std::string>& names, const RunOptions& options);

}  // namespace draftproof::benchmarks
