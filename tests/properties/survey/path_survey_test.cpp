// Tests of the optima in a survey of steps: no lossless scheme exceeds the optimum of its draft sampling, and block
// verification of one path attains it.
#include <set>

#include <gtest/gtest.h>

#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/survey/path_survey.hpp>
#include <draftproof/tests/support/hostile.hpp>

namespace draftproof {
namespace {

std::vector<StepRow> surveyed(const PathSurveyOptions& options) {
  registry();
  const auto source = PathSource::open("gaussian_logits:vocabulary=2,positions=3", {});
  return survey_paths(*source, options);
}

TEST(PathSurvey, StoredTreesHaveOneIterationEach) {
  registry();
  const auto trees = PathSource::open(DRAFTPROOF_SOURCE_DIR "/data/stories512_trees.npz", {});
  const PathSurveyOptions options{.drafts = {1}, .length = 2, .steps = 10, .verifiers = {"block"}};
  PathSurveyOptions several = options, one = options;
  several.iterations = 2;
  one.iterations = 1;
  hostile::expect_input_error([&] { survey_paths(*trees, several); },
                              {"--iterations: got 2, expected 1 for stories512_trees, whose trees are stored"});
  EXPECT_EQ(survey_paths(*trees, one).front().tally.steps, survey_paths(*trees, options).front().tally.steps);
}

std::vector<std::string> every_distribution() {
  registry();
  std::vector<std::string> names;
  for (const auto& drafter : path_registry().drafters()) names.emplace_back(drafter->info().name);
  return names;
}

TEST(PathSurvey, NoLosslessSchemeIsAboveTheOptimumOfItsTrees) {
  int compared = 0;
  for (const StepRow& row : surveyed({.drafts = {1, 2}, .length = 2, .steps = 30'000})) {
    if (!row.optimum || row.verifier->info().promise != Promise::lossless) continue;
    ++compared;
    // The steps use the starting contexts in turn, so the mean over them is exact. A mean exceeds its expectation by
    // six standard errors by chance in one of 10^9 rows.
    EXPECT_LE(row.tally.mean_accepted(), *row.optimum + 6 * row.tally.standard_error())
        << row.verifier->info().name << " K = " << row.drafts;
    EXPECT_LE(*row.optimum, *row.full_information + 1e-12);
    if (row.verifier->info().name == "block") {
      EXPECT_NEAR(row.tally.mean_accepted(), *row.optimum, 6 * row.tally.standard_error());
    }
  }
  EXPECT_GE(compared, 25);
}

TEST(PathSurvey, TheOracleAttainsTheOptimumOnEveryDistribution) {
  std::set<std::string_view> distributions;
  int several_paths = 0;
  for (const StepRow& row : surveyed({.drafts = {1, 2},
                            .length = 2,
                            .steps = 30'000,
                            .verifiers = {"lp_oracle"},
                            .draft_samplings = every_distribution()})) {
    ASSERT_TRUE(row.oracle && row.optimum);
    EXPECT_EQ(row.tally.steps, 30'000u);
    EXPECT_EQ(row.tally.impossible, 0u);
    // The certificate's bounds are at most 1e-9 apart, which is negligible beside six standard errors.
    EXPECT_NEAR(row.tally.mean_accepted(), *row.optimum, 6 * row.tally.standard_error() + 1e-9)
        << row.drafter->info().name << " K = " << row.drafts;
    distributions.insert(row.drafter->info().name);
    several_paths += row.drafts > 1;
  }
  EXPECT_EQ(distributions.size(), path_registry().drafters().size());
  EXPECT_GE(several_paths, 3);
}

TEST(PathSurvey, TheOracleStandsBesideEverySchemeWithAnOptimum) {
  std::set<std::pair<std::string_view, int>> with_oracle, with_optimum;
  for (const StepRow& row : surveyed({.drafts = {1, 2}, .length = 2, .steps = 64})) {
    const std::pair key{row.drafter->info().name, row.drafts};
    if (row.oracle) {
      EXPECT_TRUE(with_oracle.insert(key).second) << "twice";
    }
    if (row.optimum) with_optimum.insert(key);
  }
  EXPECT_FALSE(with_oracle.empty());
  EXPECT_EQ(with_oracle, with_optimum);
}

TEST(PathSurvey, SaysNothingWhereTheBoundIsOfSomethingElse) {
  for (const StepRow& row : surveyed({.drafts = {1}, .length = 2, .steps = 64}))
    EXPECT_EQ(row.optimum.has_value(), !row.verifier->stateful()) << row.verifier->info().name;
  for (const StepRow& row : surveyed({.drafts = {1}, .length = 2, .iterations = 3, .steps = 64}))
    EXPECT_FALSE(row.optimum) << "conditionals of later iterations are not the starts";
  for (const StepRow& row : surveyed({.drafts = {4}, .length = 8, .steps = 64})) {
    if (row.drafts == 4) {
      EXPECT_FALSE(row.optimum) << "2^32 trees";
    }
  }
}

}  // namespace
}  // namespace draftproof
