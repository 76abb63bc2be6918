// The schedule of a gate and its verdicts; the distribution of a build's false-alarm budget over gates.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/statistics/error_budget.hpp>
#include <draftproof/statistics/gate_schedule.hpp>

namespace draftproof {
namespace {

std::vector<std::uint64_t> batches_of(GateSchedule& schedule, double log_e) {
  std::vector<std::uint64_t> batches;
  while (const std::uint64_t size = schedule.next()) {
    batches.push_back(size);
    schedule.observe(log_e);
  }
  return batches;
}

TEST(GateSchedule, DoublesUpToItsBudgetAndStopsThere) {
  GateSchedule schedule(100, 1000, 20.7);
  EXPECT_EQ(batches_of(schedule, 0), (std::vector<std::uint64_t>{100, 100, 200, 400, 200}));
  EXPECT_EQ(schedule.state(), GateState::ok);
  EXPECT_FALSE(schedule.undecided());
}

TEST(GateSchedule, GoesOnToSixteenBudgetsWhileItIsNotOk) {
  for (const auto& [log_e, state] :
       {std::pair{std::log(100.001), GateState::watch}, std::pair{std::log(1.001e5), GateState::suspicious}}) {
    GateSchedule schedule(512, 1024, 20.7);
    EXPECT_EQ(batches_of(schedule, log_e), (std::vector<std::uint64_t>{512, 512, 1024, 2048, 4096, 8192}));
    EXPECT_EQ(schedule.exposure(), 16u * 1024);
    EXPECT_EQ(schedule.state(), state);
    EXPECT_TRUE(schedule.undecided());
  }
  GateSchedule calms(1024, 1024, 20.7);
  calms.observe(std::log(200));
  EXPECT_EQ(calms.next(), 1024u);
  calms.observe(std::log(99.9));
  EXPECT_EQ(calms.next(), 0u);
  EXPECT_FALSE(calms.undecided());
}

TEST(GateSchedule, FailsAtTheThresholdForGood) {
  GateSchedule schedule(100, 1000, 20.7);
  schedule.observe(20.69);
  EXPECT_EQ(schedule.state(), GateState::suspicious);
  schedule.observe(20.7);
  EXPECT_EQ(schedule.next(), 0u);
  EXPECT_EQ(name(schedule.state()), "failed");
  schedule.observe(0);
  EXPECT_EQ(schedule.state(), GateState::failed);
  EXPECT_FALSE(schedule.undecided());
  EXPECT_EQ(schedule.exposure(), 200u);
}

TEST(ErrorBudget, SharesSumToTheTotal) {
  const ErrorBudget budget({1, 2, 5}, 1e-9);
  EXPECT_NEAR(budget.alpha(0) + budget.alpha(1) + budget.alpha(2), 1e-9, 3 * 0x1p-52 * 1e-9);
  EXPECT_DOUBLE_EQ(budget.alpha(1), 2.5e-10);
}

TEST(ErrorBudget, EvenSharesAskForABillionTimesTheNumberOfGates) {
  for (const std::size_t gates : {1u, 7u, 10000u}) {
    const ErrorBudget budget = ErrorBudget::even(gates);
    // Logs of numbers below 1e14, twice rounded.
    EXPECT_NEAR(budget.log_threshold(gates - 1), std::log(1e9 * static_cast<double>(gates)) + 1e-3, 1e-13);
  }
}

}  // namespace
}  // namespace draftproof
