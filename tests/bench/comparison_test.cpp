// The comparison of two runs: the rule of a verdict, at and beside each of its three limits.
#include <gtest/gtest.h>

#include <draftproof/bench/results/comparison.hpp>
#include <draftproof/tests/support/synthetic.hpp>

namespace draftproof::benchmarks {
namespace {

Compared only(const std::vector<double>& before, const std::vector<double>& after, double threshold = 0.05) {
  const auto all = compare(results_of(synthetic_run({{"x", before}}), "old"),
                           results_of(synthetic_run({{"x", after}}), "new"), threshold);
  EXPECT_EQ(all.size(), 1u);
  return all.at(0);
}

TEST(Compare, ChanceOfSeparatedRanges) {
  EXPECT_DOUBLE_EQ(chance_of_separation(5, 5), 2.0 / 252);
  EXPECT_DOUBLE_EQ(chance_of_separation(4, 4), 2.0 / 70);
  EXPECT_DOUBLE_EQ(chance_of_separation(3, 6), 2.0 / 84);
  EXPECT_DOUBLE_EQ(chance_of_separation(1, 1), 1);
}

TEST(Compare, FasterAndSlower) {
  const std::vector<double> low{10, 11, 12, 13, 14}, high{15, 16, 17, 18, 19};
  EXPECT_EQ(only(low, high).change, Change::slower);
  EXPECT_EQ(only(high, low).change, Change::faster);
  EXPECT_DOUBLE_EQ(only(low, high).ratio, 17.0 / 12);
}

TEST(Compare, RangesThatTouchAreNoise) {
  EXPECT_EQ(only({10, 11, 12, 13, 15}, {15, 16, 17, 18, 19}).change, Change::within_noise);
  EXPECT_EQ(only({15, 16, 17, 18, 19}, {10, 11, 12, 13, 15}).change, Change::within_noise);
}

TEST(Compare, SmallDifferencesAreNoise) {
  const std::vector<double> before(5, 100.0);
  EXPECT_EQ(only(before, std::vector<double>(5, 104.9)).change, Change::within_noise);
  EXPECT_EQ(only(before, std::vector<double>(5, 105.2)).change, Change::slower);
  EXPECT_EQ(only(before, std::vector<double>(5, 95.3)).change, Change::within_noise);
  EXPECT_EQ(only(before, std::vector<double>(5, 95.1)).change, Change::faster);
  EXPECT_EQ(only(before, std::vector<double>(5, 104.9), 0.01).change, Change::slower);
}

TEST(Compare, FewRepetitionsDecideNothing) {
  EXPECT_EQ(only({1, 1, 1, 1}, {9, 9, 9, 9}).change, Change::too_few);
  EXPECT_EQ(only({1, 1, 1, 1, 1}, {9, 9, 9, 9, 9}).change, Change::slower);
  EXPECT_EQ(only({1}, {9}).change, Change::too_few);
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
