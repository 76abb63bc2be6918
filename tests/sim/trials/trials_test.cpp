// Tests of the trial engine, and of flips whose outcome is guessed before their random bits are read.
#include <atomic>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/trials/deferred_emits.hpp>
#include <draftproof/sim/trials/run_trials.hpp>

namespace draftproof {
namespace {

constexpr std::uint64_t trials = 100'003;  // not a multiple of the size of a shard

/// Runs trials whose outcomes depend only on the trial number.
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
    EXPECT_EQ(many.draft_accepted, one.draft_accepted);
    EXPECT_EQ(many.draft_emitted, one.draft_emitted);
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

TEST(TrialEngine, AFailureAfterARequestToStopKeepsTheTrialsBefore) {
  std::atomic<bool> stop = false;
  const Tally tally = run_trials({.trials = 100'000, .threads = 1, .stop = &stop}, Tally{},
                                 [&](std::uint64_t first, std::uint64_t count, Tally& worker) {
                                   if (first > 0) {
                                     stop = true;
                                     throw std::runtime_error("no answer");
                                   }
                                   worker.trials += count;
                                 });
  EXPECT_EQ(tally.trials, 4096u);
  stop = false;
  EXPECT_THROW(run_trials({.trials = 100'000, .threads = 1, .stop = &stop}, Tally{},
                          [&](std::uint64_t, std::uint64_t, Tally&) {
                            stop = true;
                            throw std::runtime_error("no answer");
                          }),
               std::runtime_error);
}

TEST(TrialEngine, FailureOfAWorkerReachesTheCaller) {
  EXPECT_THROW(run_trials({.trials = trials, .threads = 3}, Tally{},
                          [](std::uint64_t first, std::uint64_t, Tally&) {
                            if (first > 0) throw std::runtime_error("row 7 is not a distribution");
                          }),
               std::runtime_error);
}

TEST(Tally, CountsFlagsMembershipAndImpossibleTrials) {
  Tally tally = empty();
  const Token drafts[] = {3, 4, 3};
  tally.add({3, 2}, drafts, 3);
  tally.add({4, none_accepted}, drafts, 3);  // the emitted token is a draft that was not accepted
  tally.add({0, none_accepted}, drafts, 3);
  tally.add({no_token, none_accepted}, drafts, 3);
  EXPECT_EQ(tally.trials, 4u);
  EXPECT_EQ(tally.draft_accepted, 1u);
  EXPECT_EQ(tally.by_draft[2], 1u);
  EXPECT_EQ(tally.draft_emitted, 2u);
  EXPECT_EQ(tally.impossible, 1u);
  EXPECT_EQ(tally.histogram, (std::vector<std::uint64_t>{1, 0, 0, 1, 1}));
}

// Tests that a trial decided speculatively reads the random bits of this trial and no others.

constexpr std::uint64_t seed = 3;
constexpr int batch = PhiloxBatch::most, coins = 6;
constexpr double chances[coins] = {0.5, 0.25, 0.75, 0.5, 1, 0.1};

/// The outcomes of a trial's flips in order.
struct Fallen {
  bool won[coins];
  int known_rejections = 0;  ///< number of flips before the first success
};
Fallen fallen(std::uint64_t trial) {
  Philox alone(seed, trial, Philox::Role::verify);
  Fallen coin{};
  for (int n = 0; n < coins; ++n) coin.won[n] = alone.flip(chances[n], 1.0);
  while (coin.known_rejections < coins && !coin.won[coin.known_rejections]) ++coin.known_rejections;
  return coin;
}

TEST(SpeculativeFlips, ShowTheFirstCoinAsWonAndSayWhetherItIs) {
  PhiloxBatch words(seed, std::uint64_t{0}, batch, Philox::Role::verify);
  DeferredEmits deferred(nullptr);
  int wrong = 0;
  for (int t = 0; t < batch; ++t) {
    const Fallen coin = fallen(static_cast<std::uint64_t>(t));
    SpeculativeFlips<true> random(words, t, t, deferred, 0);
    EXPECT_FALSE(random.mispredicted());
    EXPECT_TRUE(random.flip(chances[0], 1.0));
    EXPECT_EQ(random.mispredicted(), !coin.won[0]) << "trial " << t;
    for (int n = 1; n < coins; ++n) EXPECT_EQ(random.flip(chances[n], 1.0), coin.won[n]) << "trial " << t;
    EXPECT_EQ(random.mispredicted(), !coin.won[0]) << "a later coin was taken for the guess in trial " << t;
    wrong += random.mispredicted();
  }
  EXPECT_GT(wrong, 0);
  EXPECT_LT(wrong, batch);
}

TEST(SpeculativeFlips, AreAsTheyFallAfterThoseKnownToBeLost) {
  PhiloxBatch words(seed, std::uint64_t{0}, batch, Philox::Role::verify);
  DeferredEmits deferred(nullptr);
  int several = 0;
  for (int t = 0; t < batch; ++t) {
    const Fallen coin = fallen(static_cast<std::uint64_t>(t));
    for (int known = 0; known <= coin.known_rejections; ++known) {
      SpeculativeFlips<false> random(words, t, t, deferred, known);
      EXPECT_EQ(random.known_rejections(), known);
      for (int n = 0; n < coins; ++n) EXPECT_EQ(random.flip(chances[n], 1.0), coin.won[n]) << "trial " << t;
      EXPECT_EQ(random.known_rejections(), coin.known_rejections) << "trial " << t << ", known " << known;
      EXPECT_FALSE(random.mispredicted());
    }
    several += coin.known_rejections > 1;
  }
  EXPECT_GT(several, 0);
}

TEST(SpeculativeFlips, ADrawOfAWrongGuessIsForgotten) {
  const RatioTable table(std::vector<double>{0.25, 0.5, 0.25}, std::vector<double>{0.5, 0.25, 0.25});
  Verdict verdicts[2];
  DeferredEmits deferred(verdicts);
  PhiloxBatch words(seed, std::uint64_t{0}, batch, Philox::Role::verify);
  DeferredEmitSource first(words, 0, 0, deferred), second(words, 1, 1, deferred);
  const auto emitted = [&](DeferredEmitSource& source) { return source.emit(table.residual(0.5)); };
  verdicts[0] = emitted(first);
  verdicts[1] = emitted(second);
  deferred.keep(1);
  deferred.flush(nullptr, nullptr, 1);
  EXPECT_GE(verdicts[0].token, 0);
  EXPECT_EQ(verdicts[1].token, every_token);
}

}  // namespace
}  // namespace draftproof
