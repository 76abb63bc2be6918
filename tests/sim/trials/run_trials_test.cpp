// Every trial runs exactly once for any number of threads; stop, progress and failures reach the caller.
#include <atomic>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/trials/run_trials.hpp>

namespace draftproof {
namespace {

constexpr std::uint64_t trials = 100'003;  // no multiple of a shard

/// A function of the trial's number only.
void run(std::uint64_t first, std::uint64_t count, Tally& tally) {
  for (std::uint64_t trial = first; trial < first + count; ++trial) {
    Philox random(1, trial, Philox::Role::verify);
    const Token drafts[] = {static_cast<Token>(scale(random.next(Purpose::pick), 5)), 2};
    const bool taken = random.flip(1.0, 3.0);
    tally.add({static_cast<Token>(scale(random.next(Purpose::emit), 5)), taken ? 1 : none_accepted}, drafts, 2);
  }
}

Tally empty() {
  Tally tally;
  tally.histogram.resize(5);
  return tally;
}

TEST(TrialEngine, TallyDoesNotDependOnTheNumberOfThreads) {
  const Tally one = run_trials({.trials = trials, .threads = 1}, empty(), run);
  EXPECT_EQ(one.trials, trials);
  for (const int threads : {2, 7}) {
    const Tally many = run_trials({.trials = trials, .threads = threads}, empty(), run);
    EXPECT_EQ(many.trials, one.trials);
    EXPECT_EQ(many.flagged, one.flagged);
    EXPECT_EQ(many.members, one.members);
    EXPECT_EQ(many.by_draft, one.by_draft);
    EXPECT_EQ(many.histogram, one.histogram);
  }
}

TEST(TrialEngine, RunsEveryTrialOnce) {
  for (const int threads : {1, 2, 7}) {
    std::vector<std::atomic<int>> seen(trials);
    run_trials({.trials = trials, .threads = threads}, Tally{},
               [&](std::uint64_t first, std::uint64_t count, Tally&) {
                 for (std::uint64_t trial = first; trial < first + count; ++trial) ++seen[trial];
               });
    for (const auto& times : seen) ASSERT_EQ(times.load(), 1);
  }
}

TEST(TrialEngine, RunsNothingForNoTrials) {
  EXPECT_EQ(run_trials({.trials = 0, .threads = 2}, Tally{}, run).trials, 0u);
}

TEST(TrialEngine, StopFinishesTheShardAtHandAndReturns) {
  std::atomic<bool> stop{false};
  const TrialBudget budget{.trials = 1'000'000'000'000, .threads = 1, .stop = &stop};
  const Tally tally = run_trials(budget, empty(), [&](std::uint64_t first, std::uint64_t count, Tally& worker) {
    run(first, count, worker);
    if (first >= 2 * TrialBudget{}.shard) stop = true;
  });
  EXPECT_EQ(tally.trials, 3 * TrialBudget{}.shard);
}

TEST(TrialEngine, ProgressRisesToTheBudget) {
  std::vector<std::uint64_t> reports;
  TrialBudget budget{.trials = trials, .threads = 2};
  budget.progress = [&](std::uint64_t done) { reports.push_back(done); };
  run_trials(budget, empty(), run);
  ASSERT_FALSE(reports.empty());
  for (std::size_t i = 1; i < reports.size(); ++i) EXPECT_GT(reports[i], reports[i - 1]);
  EXPECT_EQ(reports.back(), trials);
}

TEST(TrialEngine, ProgressNeverClaimsTrialsThatWereNotRun) {
  std::atomic<bool> stop{false};
  std::uint64_t reported = 0;
  TrialBudget budget{.trials = 1'000'000'000'000, .threads = 1, .stop = &stop};
  budget.progress = [&](std::uint64_t done) { reported = done; };
  const Tally tally = run_trials(budget, empty(), [&](std::uint64_t first, std::uint64_t count, Tally& worker) {
    run(first, count, worker);
    stop = true;
  });
  EXPECT_LE(reported, tally.trials);
}

TEST(TrialEngine, FailureOfAWorkerReachesTheCaller) {
  EXPECT_THROW(run_trials({.trials = trials, .threads = 3}, Tally{},
                          [](std::uint64_t first, std::uint64_t, Tally&) {
                            if (first > 0) throw std::runtime_error("row 7 is not a law");
                          }),
               std::runtime_error);
}

TEST(Tally, CountsFlagsMembershipAndImpossibleTrials) {
  Tally tally = empty();
  const Token drafts[] = {3, 4, 3};
  tally.add({3, 2}, drafts, 3);
  tally.add({4, none_accepted}, drafts, 3);  // a member without a flag
  tally.add({0, none_accepted}, drafts, 3);
  tally.add({no_token, none_accepted}, drafts, 3);
  EXPECT_EQ(tally.trials, 4u);
  EXPECT_EQ(tally.flagged, 1u);
  EXPECT_EQ(tally.by_draft[2], 1u);
  EXPECT_EQ(tally.members, 2u);
  EXPECT_EQ(tally.impossible, 1u);
  EXPECT_EQ(tally.histogram, (std::vector<std::uint64_t>{1, 0, 0, 1, 1}));
}

}  // namespace
}  // namespace draftproof
