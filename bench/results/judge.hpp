// Judges goals by the medians of one run: met, not met, or not run because a side has no time.
//
//   ratio   median time per item of `slower` over that of `faster`
//   rounds  the same of every repetition, paired in the order of the run; the spread of single rounds
//
// Both sides run in the same minutes, in random order (run.hpp), so a busy machine affects both.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <draftproof/bench/results/results.hpp>

namespace draftproof::benchmarks {

enum class GoalResult { met, missed, not_run };

struct Judged {
  Goal goal;
  GoalResult verdict = GoalResult::not_run;
  double ratio = 0;                ///< valid unless not run
  std::optional<Spread> rounds{};  ///< if both sides have equally many repetitions
};

/// Returns one verdict per goal, in the order of the goals.
std::vector<Judged> judge(std::span<const Goal> goals, const Results& results);

}  // namespace draftproof::benchmarks
