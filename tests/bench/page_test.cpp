// Compares the page of a synthetic run with the approved page, and tests the series of its plots and the selections
// of benchmarks. DRAFTPROOF_APPROVE=1 rewrites the approved files.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include <draftproof/bench/page/page.hpp>
#include <draftproof/bench/run.hpp>
#include <draftproof/captures/written_file.hpp>
#include <draftproof/cli/report/page/data.hpp>
#include <draftproof/tests/support/synthetic.hpp>

namespace draftproof::benchmarks {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Results imagined() {
  std::vector<SyntheticBenchmark> list;
  const auto near = [](double seconds) { return std::vector{seconds, 1.1 * seconds, 0.9 * seconds}; };
  for (const int vocabulary : {4096, 32000, 128256}) {
    const std::string v = "/" + std::to_string(vocabulary);
    list.push_back({"cost/single_draft/iid" + v + "/1", near(vocabulary * 1e-10)});
    list.push_back({"cost/ladder/iid" + v + "/4", near(vocabulary * 4e-10)});
    list.push_back({"lower_bound/radix" + v, near(vocabulary * 1e-8)});
  }
  for (const int drafts : {1, 4, 16}) {
    const std::string k = "/" + std::to_string(drafts);
    list.push_back({"simulate/ladder/iid/128256" + k, near(drafts * 5e-8)});
    if (drafts < 16)
      list.push_back({"peer/numpy/expert/128256" + k + "/iterations:1/manual_time", near(drafts * 1e-6)});
  }
  list.push_back({"peer/scipy/highs/12/3", {}});
  list.push_back({"prove/all", near(4e-3)});
  list.push_back({"somebody/else", near(1)});
  using enum Goal::Sense;
  return results_of(
      synthetic_run(
          list, {{"numpy over simulation, K = 4", "peer/numpy/expert/128256/4", "simulate/ladder/iid/128256/4",
                  at_least, 10},
                 {"a decision over a sort", "cost/ladder/iid/128256/4", "lower_bound/radix/128256", at_most, 0.01},
                 {"a peer that did not run", "peer/scipy/highs/12/3", "prove/all", at_least, 2}}),
      "run");
}

TEST(Page, IsTheApprovedOne) {
  const fs::path approved = fs::path(DRAFTPROOF_SOURCE_DIR) / "tests/bench/approved";
  const fs::path work = fs::path(testing::TempDir()) / "draftproof_page";
  const bool approve = std::getenv("DRAFTPROOF_APPROVE") != nullptr;
  fs::create_directories(work);
  const fs::path& folder = approve ? approved : work;
  write_page(imagined(), (folder / "page.md").string());
  for (const char* name : {"page.md", "page/cost.svg", "page/throughput.svg"}) {
    const std::string wanted = content_of(approved / name);
    EXPECT_FALSE(wanted.empty()) << name;
    EXPECT_EQ(content_of(folder / name), wanted) << name;
  }
}

TEST(Page, ShowsGoalsAsVerdicts) {
  using enum Goal::Sense;
  const auto run = synthetic_run({{"slow", {9, 9, 9}}, {"fast", {3, 3, 3}}}, {{"first", "slow", "fast", at_least, 2},
                                                                              {"second", "slow", "fast", at_most, 2},
                                                                              {"third", "slow", "none", at_most, 2}});
  const auto verdicts = page::verdicts_in(run);
  ASSERT_EQ(verdicts.size(), 3u);
  const std::vector<std::string> texts{"met", "not met", "not run"};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(verdicts[i].kind, "goal");
    EXPECT_EQ(verdicts[i].text, texts[i]);
    EXPECT_EQ(verdicts[i].grade, i == 0 ? page::Grade::good : page::Grade::open);
  }
  EXPECT_EQ(verdicts[0].subject, "first");
  EXPECT_EQ(verdicts[1].detail, "ratio 3, expected at most 2");
}

TEST(Page, ThatCannotBeWrittenIsRefused) { EXPECT_THROW(write_page(imagined(), "/dev/null/page.md"), WriteFailure); }

TEST(Page, TakesGoalsAndWhatStandsForItself) {
  const std::vector<Goal> goals{{"", "cost/spec_hub/hub/4096/2", "lower_bound/radix/4096", Goal::Sense::at_most, 1}};
  EXPECT_TRUE(on_page("cost/spec_hub/hub/4096/2", goals));
  EXPECT_FALSE(on_page("cost/spec_hub/hub/4096/2", {}));
  EXPECT_TRUE(on_page("cost/ladder/iid/4096/4", {}));
  EXPECT_TRUE(on_page("somebody/else", {}));
  EXPECT_FALSE(on_page("prove/ladder/iid", {}));
}

TEST(Matrix, NumbersAreColumns) {
  EXPECT_EQ(split_name("rows/bf16/k_seq/4096/4/cold").words, "rows/bf16/k_seq/cold");
  EXPECT_EQ(split_name("rows/bf16/k_seq/4096/4/cold").numbers, (std::vector{4096, 4}));
  EXPECT_EQ(split_name("exp/avx512").words, "exp/avx512");
  const Results results = results_of(synthetic_run({{"a/20/1", {2e-6}}, {"a/3/1", {1e-6}}, {"b/20/1", {}}}), "run");
  std::vector<const Measurement*> all;
  for (const Measurement& one : results.measurements) all.push_back(&one);
  const Table table = matrix_of(
      all, [](const Measurement& one) { return std::to_string(static_cast<int>(one.spread().median * 1e6)); });
  ASSERT_EQ(table.columns.size(), 3u);
  EXPECT_EQ(table.columns[1].title, "3 / 1");
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0][1].text, "1");
  EXPECT_EQ(table.rows[0][2].text, "2");
  EXPECT_EQ(table.rows[1][1].text, "");
  EXPECT_EQ(table.rows[1][2].text, "-");
}

TEST(Matrix, RowsWithoutACommonColumnArePartedIntoTables) {
  const Results results = results_of(
      synthetic_run(
          {{"g/small/12", {1}}, {"g/large/99", {1}}, {"g/both/12", {1}}, {"g/large/50", {1}}, {"g/more/50", {1}}}),
      "run");
  std::vector<const Measurement*> all;
  for (const Measurement& one : results.measurements) all.push_back(&one);
  const auto parts = parts_of(all);
  ASSERT_EQ(parts.size(), 2u);
  ASSERT_EQ(parts[0].size(), 2u);
  EXPECT_EQ(parts[0][1]->name, "g/both/12");
  ASSERT_EQ(parts[1].size(), 3u);
  EXPECT_EQ(parts[1][2]->name, "g/more/50");
}

TEST(Figures, SeriesTakeTheNumberLeftOpen) {
  const Results results = results_of(
      synthetic_run({{"a/20/4", {2}}, {"a/3/4", {1}}, {"a/3/5", {9}}, {"a/x/4", {9}}, {"a/7/4", {}}}), "run");
  const plots::Series series = series_of(results, "l", "a/{}/4", false);
  EXPECT_EQ(series.points, (std::vector<plots::Point>{{3, 1}, {20, 2}}));
  EXPECT_EQ(series_of(results, "l", "a/{}/4", true).points[1].y, 0.5);
}

TEST(UsualSizes, TheMiddleOfEachKind) {
  const std::vector<std::string> names{"cost/a/iid/4096/1",  "cost/a/iid/4096/4",   "cost/a/iid/32000/1",
                                       "cost/a/iid/32000/4", "cost/a/iid/128256/1", "cost/b/iid/4096/1",
                                       "prove/all"};
  EXPECT_EQ(usual_sizes(names, {}),
            (std::vector<std::string>{"cost/a/iid/32000/1", "cost/b/iid/4096/1", "prove/all"}));
}

TEST(UsualSizes, BothSidesOfEveryGoal) {
  const std::vector<std::string> names{"lower_bound/4096", "lower_bound/32000", "lower_bound/128256",
                                       "peer/4096/iterations:1/manual_time", "peer/32000/iterations:1/manual_time"};
  const std::vector<Goal> goals{{"x", "peer/4096", "lower_bound/128256", Goal::Sense::at_least, 1}};
  EXPECT_EQ(usual_sizes(names, goals),
            (std::vector<std::string>{"lower_bound/32000", "lower_bound/128256", "peer/4096/iterations:1/manual_time",
                                      "peer/32000/iterations:1/manual_time"}));
}

}  // namespace
}  // namespace draftproof::benchmarks
