// Goals against the medians of one run: met, not met, or not run because a side has no time.
//
//   ratio   median time per item of `slower` over that of `faster`
//   rounds  the same of every repetition, paired in the order of the run; how far single rounds lie from the ratio
//
// Cost: nothing. Fair because both sides ran in the same minutes, in random turns (run.hpp).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <draftproof/bench/results/results.hpp>

namespace draftproof::benchmarks {

enum class Verdict { met, missed, not_run };

struct Judged {
  Goal goal;
  Verdict verdict = Verdict::not_run;
  double ratio = 0;                ///< unless not run
  std::optional<Spread> rounds{};  ///< if both sides have as many repetitions
};

/// Goals in their order.
std::vector<Judged> judge(std::span<const Goal> goals, const Results& results);

}  // namespace draftproof::benchmarks
