// Runs registered benchmarks in rounds. Every round runs each benchmark once, in an order that is random and new in
// each round, so benchmarks that are compared run in the same minutes and other load slows both.
//
//   round    one repetition of each; its order is drawn from (seed, round)
//   result   Google Benchmark's JSON with the goals beside it (results/results.hpp)
//
// Cost: a repetition takes at least `min_time`, and finding its number of iterations about as much again. Google
// Benchmark runs one repetition of one benchmark at a time, because its interleaving of repetitions cannot be stopped.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <draftproof/bench/goal.hpp>

namespace draftproof::benchmarks {

struct RunOptions {
  int repetitions = 5;
  double min_time = 0.1;  ///< seconds per repetition
  double longest = 30;    ///< seconds after which a benchmark is not repeated
  double minutes = 0;     ///< minutes after which no benchmark is started; 0: no limit
  bool interleave = true;
  std::uint64_t seed = 1;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::uint64_t done)> progress{};  ///< done: number of finished runs
  /// Called about every 20 s with the results so far, which are not complete.
  std::function<void(const nlohmann::ordered_json& results)> keep{};
};

/// Returns the names of all registered benchmarks, as Google Benchmark prints them; the first call registers them.
const std::vector<std::string>& registered_benchmarks();

/// Returns the names that match one of the regular expressions after plain_name() has removed suffixes such as
/// /iterations:1; all names if there are no filters.
/// Throws: InputError if a filter is not a regular expression or matches nothing.
std::vector<std::string> choose_benchmarks(const std::vector<std::string>& names,
                                           const std::vector<std::string>& filters);

/// Returns the names that occur in goals. Of each group of benchmarks that differ only in their sizes, it also returns
/// the name with the middle size.
std::vector<std::string> usual_sizes(const std::vector<std::string>& names, const std::vector<Goal>& goals);

/// Runs the benchmarks and returns the results as JSON. If `stop` is set or the minutes are over, returns the results
/// obtained so far. A benchmark that is skipped once is not repeated.
nlohmann::ordered_json run_benchmarks(const std::vector<std::string>& names, const RunOptions& options);

}  // namespace draftproof::benchmarks
