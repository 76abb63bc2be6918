// Goals: the ratio is one of medians per item, a ratio equal to the bound meets it in either sense, and a goal that
// did not run is not judged.
#include <gtest/gtest.h>

#include <draftproof/bench/results/judge.hpp>
#include <draftproof/bench/results/tables.hpp>
#include <draftproof/tests/support/synthetic.hpp>

namespace draftproof::benchmarks {
namespace {

using enum Goal::Sense;

Judged judged(const Goal& goal, const std::vector<SyntheticBenchmark>& list) {
  const Results results = results_of(synthetic_run(list, {goal}), "run");
  const auto all = judge(results.goals, results);
  EXPECT_EQ(all.size(), 1u);
  return all.at(0);
}

TEST(Goals, AtLeastAndAtMost) {
  const std::vector<SyntheticBenchmark> list{{"slow", {8, 6, 100}}, {"fast", {2, 1, 4}}};
  const auto verdict = [&](Goal::Sense sense, double bound) {
    return judged({"x", "slow", "fast", sense, bound}, list).verdict;
  };
  EXPECT_EQ(verdict(at_least, 3.99), GoalResult::met);
  EXPECT_EQ(verdict(at_least, 4), GoalResult::met);
  EXPECT_EQ(verdict(at_least, 4.01), GoalResult::undecided);
  EXPECT_EQ(verdict(at_most, 4.01), GoalResult::undecided);
  EXPECT_EQ(verdict(at_least, 25.01), GoalResult::missed);
  EXPECT_EQ(verdict(at_most, 25), GoalResult::met);
  EXPECT_EQ(verdict(at_most, 3.99), GoalResult::missed);
}

TEST(Goals, WhatSomeRoundsMissIsSaidByRounds) {
  // Ratios 4, 6 and 25 by rounds: the median of the times alone would say met or not met.
  const std::vector<SyntheticBenchmark> list{{"slow", {8, 6, 100}}, {"fast", {2, 1, 4}}};
  EXPECT_EQ(verdict_text(judged({"x", "slow", "fast", at_least, 5}, list)), "met in 2 of 3 rounds");
  EXPECT_EQ(verdict_text(judged({"x", "slow", "fast", at_most, 4}, list)), "met in 1 of 3 rounds");
  EXPECT_EQ(verdict_text(judged({"x", "slow", "fast", at_most, 3}, list)), "not met");
}

TEST(Goals, RatioOfMediansAndRangeOfRounds) {
  const Judged found = judged({"x", "slow", "fast", at_least, 1}, {{"slow", {8, 6, 100}}, {"fast", {2, 1, 4}}});
  EXPECT_DOUBLE_EQ(found.ratio, 4);
  ASSERT_TRUE(found.rounds);
  EXPECT_DOUBLE_EQ(found.rounds->low, 4);
  EXPECT_DOUBLE_EQ(found.rounds->high, 25);
  EXPECT_FALSE(judged({"x", "slow", "fast", at_least, 1}, {{"slow", {8, 6}}, {"fast", {2, 1, 4}}}).rounds);
}

TEST(Goals, WhatDidNotRunIsNeitherMetNorMissed) {
  const Goal goal{"x", "slow", "fast", at_most, 1e9};
  EXPECT_EQ(judged(goal, {{"slow", {1}}}).verdict, GoalResult::not_run);
  EXPECT_EQ(judged(goal, {{"fast", {1}}}).verdict, GoalResult::not_run);
  EXPECT_EQ(judged(goal, {{"slow", {1}}, {"fast", {}}}).verdict, GoalResult::not_run);
  EXPECT_EQ(judged(goal, {}).verdict, GoalResult::not_run);
}

TEST(Goals, NamesMayBeTheLibrarys) {
  EXPECT_EQ(
      judged({"x", "slow/iterations:1/manual_time", "fast", at_least, 2}, {{"slow", {4}}, {"fast/real_time", {2}}})
          .verdict,
      GoalResult::met);
}

TEST(Goals, AreASectionOfThoseThatRan) {
  const std::vector<Goal> goals{{"first", "slow", "fast", at_least, 2},
                                {"second", "slow", "fast", at_most, 2},
                                {"third", "slow", "absent", at_most, 2}};
  const auto sections =
      sections_of(results_of(synthetic_run({{"slow", {9, 9, 9}}, {"fast", {3, 3, 3}}}, goals), "run"));
  const Section& last = sections.back();
  EXPECT_EQ(last.title, "Goals");
  ASSERT_EQ(last.table.rows.size(), 2u);
  EXPECT_EQ(last.table.rows[0].back().text, "met");
  EXPECT_EQ(last.table.rows[1].back().text, "not met");
  EXPECT_EQ(last.table.rows[0][1].text, "3.00");
  EXPECT_EQ(last.after.front(), "  Goals: 1 met, 1 not met, 1 not run");
  EXPECT_EQ(sections_of(results_of(synthetic_run({{"slow", {9}}}, goals), "run")).back().title, "slow");
}

}  // namespace
}  // namespace draftproof::benchmarks
