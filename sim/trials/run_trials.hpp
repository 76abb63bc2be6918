// Runs trials on all threads. Trial n is a function of (seed, n) and counts are integers, so the result is the same
// for any number of threads; only a stop or a time budget changes the number of trials.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <type_traits>
#include <vector>

#include <draftproof/sim/tally.hpp>

namespace draftproof {

/// Number of processors that the system reports, at least one.
inline int default_threads() {
  const unsigned processors = std::thread::hardware_concurrency();
  return processors > 0 ? static_cast<int>(processors) : 1;
}

/// How many trials to run, on how many threads, with what limits. `seconds` > 0 ends the run after the round in which
/// it is exceeded.
struct TrialBudget {
  std::uint64_t trials = 1'000'000;
  double seconds = 0;
  int threads = 0;                                ///< 0: all processors
  const std::atomic<bool>* stop = nullptr;        ///< set from outside: finish the current shards and return
  std::function<void(std::uint64_t)> progress{};  ///< called between rounds with the number of trials done
  std::uint64_t shard = 4096;                     ///< trials that a worker takes at a time
};

/// Returns the sum of all workers' tallies. `run(first, count, tally)` or `run(worker, first, count, tally)` adds
/// trials first .. first + count - 1 to a worker's tally; it is called concurrently, but not for the same worker. A
/// tally is copied from `empty` and added with `+=`; its integers make the sum independent of the schedule.
/// Throws: an exception that a call of `run` threw, after the round in which it was thrown.
template <class Counts, class Run>
Counts run_trials(const TrialBudget& budget, const Counts& empty, Run&& run) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const int threads = budget.threads > 0 ? budget.threads : default_threads();
  const auto stopped = [&] { return budget.stop && budget.stop->load(std::memory_order_relaxed); };
  std::vector<Counts> tallies(static_cast<std::size_t>(threads), empty);
  std::exception_ptr failure;
  const auto take = [&run](int worker, std::uint64_t first, std::uint64_t count, Counts& tally) {
    if constexpr (std::is_invocable_v<Run&, int, std::uint64_t, std::uint64_t, Counts&>)
      run(worker, first, count, tally);
    else
      run(first, count, tally);
  };
  // Rounds double from a few shards a worker; the clock is read and progress is reported between them.
  std::uint64_t round = budget.shard * static_cast<std::uint64_t>(threads) * 4;
  for (std::uint64_t first = 0; first < budget.trials && !stopped() && !failure; round *= 2) {
    const std::uint64_t end = std::min(budget.trials, first + round);
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int worker = 0; worker < threads; ++worker) {
      try {
        const std::uint64_t stride = budget.shard * static_cast<std::uint64_t>(threads);
        for (std::uint64_t shard = first + budget.shard * static_cast<std::uint64_t>(worker);
             shard < end && !stopped(); shard += stride)
          take(worker, shard, std::min(budget.shard, end - shard), tallies[static_cast<std::size_t>(worker)]);
      } catch (...) {
#pragma omp critical
        failure = std::current_exception();
      }
    }
    first = end;
    if (budget.progress && !stopped() && !failure) budget.progress(first);  // a round cut short has not reached `end`
    if (budget.seconds > 0 && std::chrono::duration<double>(Clock::now() - start).count() >= budget.seconds) break;
    // Keeps rounds so short that the clock is read about ten times in a budget.
    if (budget.seconds > 0) round = std::min<std::uint64_t>(round, budget.shard * 256);
  }
  if (failure) std::rethrow_exception(failure);
  Counts total = empty;
  for (const Counts& tally : tallies) total += tally;
  return total;
}

}  // namespace draftproof
