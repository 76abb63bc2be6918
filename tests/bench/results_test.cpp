// Tests of runs read from JSON: names, medians, clocks, and files that are refused. Tests of goals, and of the rule of
// a comparison at and near each of its three limits.
#include <filesystem>
#include <fstream>
#include <tuple>

#include <gtest/gtest.h>

#include <draftproof/bench/results/results.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/tests/support/synthetic.hpp>

namespace draftproof::benchmarks {
namespace {

TEST(Median, OfOddAndEvenCounts) {
  const Spread odd = spread_of({5, 1, 3});
  EXPECT_EQ(odd.low, 1);
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.high, 5);
  EXPECT_EQ(spread_of({4, 1, 2, 8}).median, 3);
  EXPECT_EQ(spread_of({7}).median, 7);
  EXPECT_EQ(spread_of({7}).relative(), 0);
  EXPECT_DOUBLE_EQ(odd.relative(), 2.0 / 3);
}

TEST(Results, NamesLoseWhatTheLibraryAppends) {
  EXPECT_EQ(plain_name("peer/numpy/expert/4096/4/iterations:1/manual_time"), "peer/numpy/expert/4096/4");
  EXPECT_EQ(plain_name("a/process_time/real_time"), "a");
  EXPECT_EQ(plain_name("a/min_time:2.000/b/repeats:3"), "a/b");
  EXPECT_EQ(plain_name("a/threads:2"), "a/threads:2") << "another benchmark than on one thread";
  EXPECT_EQ(plain_name("cost/k_seq/iid/4096/4"), "cost/k_seq/iid/4096/4");
}

TEST(Results, TimeIsPerItemWhereItemsAreCounted) {
  const Results results = results_of(synthetic_run({{"with", {2e-6, 4e-6, 3e-6}}}), "run");
  ASSERT_TRUE(results.find("with"));
  EXPECT_TRUE(results.find("with")->items);
  EXPECT_DOUBLE_EQ(results.find("with")->spread().median, 3e-6);
  EXPECT_EQ(results.find("without"), nullptr);
}

TEST(Results, TheClockIsTheBenchmarksOwn) {
  const auto data = nlohmann::ordered_json::parse(R"({"benchmarks": [
    {"name": "cpu", "cpu_time": 5, "real_time": 9, "time_unit": "us"},
    {"name": "wall/real_time", "cpu_time": 5, "real_time": 9, "time_unit": "ms"},
    {"name": "told/iterations:1/manual_time", "cpu_time": 5, "real_time": 9, "time_unit": "s", "depth": 3},
    {"name": "cpu_median", "run_name": "cpu", "run_type": "aggregate", "cpu_time": 77, "time_unit": "us"}]})");
  const Results results = results_of(data, "run");
  ASSERT_EQ(results.measurements.size(), 3u);
  EXPECT_DOUBLE_EQ(results.find("cpu")->spread().median, 5e-6);
  EXPECT_EQ(results.find("cpu")->seconds.size(), 1u);
  EXPECT_FALSE(results.find("cpu")->items);
  EXPECT_DOUBLE_EQ(results.find("wall")->spread().median, 9e-3);
  EXPECT_DOUBLE_EQ(results.find("told")->spread().median, 9);
  EXPECT_EQ(results.find("told")->counters.at("depth"), 3);
  EXPECT_FALSE(results.find("told")->counters.contains("cpu_time"));
}

TEST(Results, StoppedAndSkippedAreSaid) {
  auto data = synthetic_run({{"gone", {}}});
  const Results results = results_of(data, "run");
  EXPECT_TRUE(results.complete);
  ASSERT_TRUE(results.find("gone"));
  EXPECT_FALSE(results.find("gone")->timed());
  EXPECT_EQ(results.find("gone")->skipped, "no reason to run");
  data["complete"] = false;
  EXPECT_FALSE(results_of(data, "run").complete);
}

TEST(Results, WhatIsNoRunIsRefused) {
  const char* wrong[] = {
      "[]",
      "{}",
      R"({"benchmarks": 3})",
      R"({"benchmarks": [3]})",
      R"({"benchmarks": [{"cpu_time": 1}]})",
      R"({"benchmarks": [{"name": "a"}]})",
      R"({"benchmarks": [{"name": "a", "cpu_time": "1"}]})",
      R"({"benchmarks": [{"name": "a", "cpu_time": 0}]})",
      R"({"benchmarks": [{"name": "a", "cpu_time": 1, "time_unit": "weeks"}]})",
      R"({"benchmarks": [{"name": "a", "cpu_time": 1, "items_per_second": -1}]})",
      R"({"benchmarks": [], "goals": [{"what": "a"}]})",
      R"({"benchmarks": [], "goals": [{"what": "a", "slower": "b", "faster": "c", "sense": "about", "bound": 1}]})"};
  for (const char* text : wrong)
    EXPECT_THROW(results_of(nlohmann::ordered_json::parse(text), "run"), InputError) << text;
  EXPECT_THROW(read_json("no_such_file.json"), InputError);
  const auto path = std::filesystem::path(testing::TempDir()) / "no_json.json";
  std::ofstream(path) << "{\"benchmarks\": [";
  EXPECT_THROW(read_json(path.string()), InputError);
}

TEST(Units, HaveThreeDigits) {
  const std::pair<std::string, const char*> cases[] = {
      {time_text(3.2e-10), "0.32 ns"},  {time_text(412e-9), "412 ns"},    {time_text(999.4e-9), "999 ns"},
      {time_text(999.6e-9), "1.00 us"}, {time_text(0.0173), "17.3 ms"},   {time_text(63), "63.0 s"},
      {rate_text(4.51e6), "4.51 M/s"},  {rate_text(999.6e6), "1.00 G/s"}, {rate_text(12), "12.0 /s"},
      {three_digits(71860), "71860"},   {count_text(35), "35"},           {count_text(0.8123456), "0.81235"}};
  for (const auto& [text, wanted] : cases) EXPECT_EQ(text, wanted);
}

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
  // The ratios of the rounds are 4, 6 and 25. The ratio of the median times, 8 / 2, would give only "met" or "not met",
  // although single rounds differ.
  const std::vector<SyntheticBenchmark> list{{"slow", {8, 6, 100}}, {"fast", {2, 1, 4}}};
  EXPECT_EQ(judged({"x", "slow", "fast", at_least, 5}, list).text(), "met in 2 of 3 rounds");
  EXPECT_EQ(judged({"x", "slow", "fast", at_most, 4}, list).text(), "met in 1 of 3 rounds");
  EXPECT_EQ(judged({"x", "slow", "fast", at_most, 3}, list).text(), "not met");
  const Judged found = judged({"x", "slow", "fast", at_least, 1}, list);
  EXPECT_DOUBLE_EQ(found.ratio, 4) << "of medians";
  ASSERT_TRUE(found.rounds);
  EXPECT_DOUBLE_EQ(found.rounds->low, 4);
  EXPECT_DOUBLE_EQ(found.rounds->high, 25);
  EXPECT_FALSE(judged({"x", "slow", "fast", at_least, 1}, {{"slow", {8, 6}}, {"fast", {2, 1, 4}}}).rounds);
}

TEST(Goals, WhatDidNotRunIsNeitherMetNorMissed) {
  const Goal goal{"x", "slow", "fast", at_most, 1e9};
  for (const auto& list : std::vector<std::vector<SyntheticBenchmark>>{
           {{"slow", {1}}}, {{"fast", {1}}}, {{"slow", {1}}, {"fast", {}}}, {}})
    EXPECT_EQ(judged(goal, list).verdict, GoalResult::not_run);
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

Compared only(const std::vector<double>& before, const std::vector<double>& after, double threshold = 0.05) {
  const auto all = compare(results_of(synthetic_run({{"x", before}}), "old"),
                           results_of(synthetic_run({{"x", after}}), "new"), threshold);
  EXPECT_EQ(all.size(), 1u);
  return all.at(0);
}

TEST(Compare, ChanceOfSeparatedRanges) {
  for (const auto& [n, m, chance] :
       {std::tuple(5u, 5u, 2.0 / 252), {4u, 4u, 2.0 / 70}, {3u, 6u, 2.0 / 84}, {1u, 1u, 1}})
    EXPECT_DOUBLE_EQ(chance_of_separation(n, m), chance) << n << " " << m;
}

TEST(Compare, ARangeBeyondAnotherOfEnoughRepetitionsIsAChange) {
  using enum Change;
  const std::vector<double> low{10, 11, 12, 13, 14}, high{15, 16, 17, 18, 19}, touching{10, 11, 12, 13, 15};
  const auto five = [](double seconds) { return std::vector(5, seconds); };
  const struct {
    std::vector<double> before, after;
    Change change;
    double threshold = 0.05;
  } cases[] = {{low, high, slower},
               {high, low, faster},
               {touching, high, within_noise},
               {high, touching, within_noise},
               {five(100), five(104.9), within_noise},  // ratios near the threshold
               {five(100), five(105.2), slower},
               {five(100), five(95.3), within_noise},
               {five(100), five(95.1), faster},
               {five(100), five(104.9), slower, 0.01},
               {{1, 1, 1, 1}, {9, 9, 9, 9}, too_few},
               {five(1), five(9), slower},
               {{1}, {9}, too_few}};
  for (const auto& one : cases)
    EXPECT_EQ(only(one.before, one.after, one.threshold).change, one.change)
        << testing::PrintToString(one.before) << " " << testing::PrintToString(one.after);
  EXPECT_DOUBLE_EQ(only(low, high).ratio, 17.0 / 12);
}

TEST(Compare, MissingNewAndSkippedAreListed) {
  const auto all = compare(results_of(synthetic_run({{"gone", {1}}, {"kept", {1}}, {"skipped", {1}}}), "old"),
                           results_of(synthetic_run({{"kept", {1}}, {"skipped", {}}, {"added", {1}}}), "new"), 0.05);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].change, Change::only_old);
  EXPECT_EQ(all[1].change, Change::within_noise);
  EXPECT_EQ(all[2].change, Change::skipped);
  EXPECT_EQ(all[3].name, "added");
  EXPECT_EQ(all[3].change, Change::only_new);
  const Document document = report_comparison(all, "old", "new", 0.05);
  EXPECT_EQ(document.data["schema"], "draftproof.bench.compare/1");
  EXPECT_EQ(document.data["benchmarks"][0]["verdict"], "missing");
  EXPECT_EQ(document.data["benchmarks"][1]["ratio"], 1.0);
  EXPECT_EQ(document.data["benchmarks"][3]["verdict"], "new");
  EXPECT_EQ(document.data["slower"], 0);
  for (const auto& row : document.sections[0].table.rows)
    EXPECT_EQ(row.size(), document.sections[0].table.columns.size());
}

}  // namespace
}  // namespace draftproof::benchmarks
