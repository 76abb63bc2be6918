// Judges goals by one run: met, not met, undecided by its rounds, or not run because a side has no time.
//
//   ratio   median time per item of `slower` over that of `faster`
//   rounds  the same of every repetition, paired in the order of the run; the spread of single rounds
//
// Both sides run in the same minutes, in random order (run.hpp), so a busy machine affects both. A goal is met if every round
// meets it, not met if none does, and else undecided, whatever the median: other load moves single rounds over a bound. Without
// paired rounds the medians decide.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <draftproof/bench/results/results.hpp>

namespace draftproof::benchmarks {

enum class GoalResult { met, missed, undecided, not_run };

struct Judged {
  Goal goal;
  GoalResult verdict = GoalResult::not_run;
  double ratio = 0;                            ///< valid unless not run
  std::optional<Spread> rounds{};              ///< if both sides have equally many repetitions
  std::size_t met_rounds = 0, all_rounds = 0;  ///< rounds that meet the bound, of how many
};

/// Returns one verdict per goal, in the order of the goals.
std::vector<Judged> judge(std::span<const Goal> goals, const Results& results);

/// The verdict in words: "met", "not met", "met in 3 of 5 rounds", "not run".
std::string verdict_text(const Judged& judged);

}  // namespace draftproof::benchmarks
