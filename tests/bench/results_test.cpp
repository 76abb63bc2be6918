// Runs read back from their JSON: names, medians, clocks, and refused files.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include <draftproof/bench/results/results.hpp>
#include <draftproof/bench/results/units.hpp>
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

TEST(Results, ARunThatWasStoppedSaysSo) {
  auto data = synthetic_run({{"a", {1}}});
  EXPECT_TRUE(results_of(data, "run").complete);
  data["complete"] = false;
  EXPECT_FALSE(results_of(data, "run").complete);
}

TEST(Results, SkippedIsNotTimed) {
  const Results results = results_of(synthetic_run({{"gone", {}}}), "run");
  ASSERT_TRUE(results.find("gone"));
  EXPECT_FALSE(results.find("gone")->timed());
  EXPECT_EQ(results.find("gone")->skipped, "no reason to run");
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
  EXPECT_EQ(time_text(3.2e-10), "0.32 ns");
  EXPECT_EQ(time_text(412e-9), "412 ns");
  EXPECT_EQ(time_text(999.4e-9), "999 ns");
  EXPECT_EQ(time_text(999.6e-9), "1.00 us");
  EXPECT_EQ(time_text(0.0173), "17.3 ms");
  EXPECT_EQ(time_text(63), "63.0 s");
  EXPECT_EQ(rate_text(4.51e6), "4.51 M/s");
  EXPECT_EQ(rate_text(999.6e6), "1.00 G/s");
  EXPECT_EQ(rate_text(12), "12.0 /s");
  EXPECT_EQ(three_digits(71860), "71860");
  EXPECT_EQ(count_text(35), "35");
  EXPECT_EQ(count_text(0.8123456), "0.81235");
}

}  // namespace
}  // namespace draftproof::benchmarks
