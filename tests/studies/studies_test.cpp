// Tests that every study passes on correct schemes, has the same data for any number of threads, and reports that it is
// incomplete if it is stopped. Studies with claims must fail on a wrong scheme.
#include <array>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <draftproof/bench/studies/figures/draft_samplings.hpp>
#include <draftproof/bench/studies/figures/plans.hpp>
#include <draftproof/bench/studies/figures/precision.hpp>
#include <draftproof/bench/studies/figures/temperatures.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/verifiers/mutants/pick.hpp>

namespace draftproof {
namespace {

using studies::DraftTemperatures;
using studies::Precision;
using studies::ResolutionTrade;

/// A wrong scheme that always accepts the first draft, so its acceptance is 1.
struct TakesTheFirst {
  static constexpr Info info{
      .name = "takes_the_first", .summary = "", .source = "", .drafts = DraftSamplings{"greedy"}};
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R&) const {
    return accepted(at.draft(0), 0);
  }
};

StudyOptions small(std::uint64_t effort) {
  return {.sources = {"zipf:vocabulary=20,positions=5", "bernoulli"}, .effort = effort, .seed = 3};
}
StudyOptions one_source(std::string source, std::uint64_t effort) {
  return {.sources = {std::move(source)}, .effort = effort, .seed = 3};
}

/// The options of each study in these tests. Studies that are not listed run with effort 1 on their default sources.
const std::map<std::string, StudyOptions> sizes{
    {"acceptance_estimators", one_source("zipf:vocabulary=60,noise=0.8", 64)},
    {"adaptive_drafts", small(4000)},
    {"block_against_token", one_source("zipf:vocabulary=12,positions=6", 9)},
    {"certified_instances", {}},
    {"curves_in_drafts", {}},
    {"draft_samplings", small(4000)},
    {"draft_temperatures", small(4000)},
    {"gate_power", one_source("zipf:vocabulary=60,exponent=1.1,draft_exponent=1.1,noise=0.8,shuffle=1", 9)},
    {"hybrid_trees", one_source("zipf:vocabulary=16", 2)},
    {"ladder_buckets", small(4000)},
    {"live_paths", one_source("zipf:vocabulary=16", 3)},
    {"lossy_rules", small(4000)},
    {"multipath_in_k", {.effort = 1}},
    {"order_of_schemes", {.effort = 600}},
    {"published_path_example", {}},
    {"resolution_trade", small(4000)},
    {"tree_shapes", one_source("zipf:vocabulary=16", 3)},
    {"two_uniform_drafts", {.effort = 7}}};

bool complains_about(const StudyResult& result, const std::string& what) {
  for (const auto& text : result.document.data["checks"]["violations"])
    if (text.get<std::string>().find(what) != std::string::npos) return true;
  return false;
}

class AnyStudy : public testing::TestWithParam<std::string> {
 protected:
  StudyOptions options = sizes.contains(GetParam()) ? sizes.at(GetParam()) : StudyOptions{.effort = 1};

  StudyResult run() const {
    registry();
    const auto& all = found_studies();
    return std::find_if(all.begin(), all.end(), [](const Study& s) { return s.name == GetParam(); })->run(options);
  }
};

TEST_P(AnyStudy, HoldsAndSaysTheSameForAnyNumberOfThreads) {
  options.threads = 1;
  const StudyResult one = run();
  const auto& data = one.document.data;
  EXPECT_TRUE(one.passed) << data;
  EXPECT_TRUE(one.complete);
  EXPECT_EQ(data.begin().key(), "schema");
  if (data.contains("checks")) {
    EXPECT_GT(data["checks"]["checked"], options.sources.size() == 2 ? 50 : 0);
  } else {
    EXPECT_EQ(data["passed"], true);
  }
  if (options.sources.size() == 2) {
    EXPECT_EQ(data["sources"].size(), 2u);
  }
  for (const int threads : {2, 5}) {
    options.threads = threads;
    EXPECT_EQ(run().document.data.dump(), data.dump()) << threads << " threads";
  }
}

TEST_P(AnyStudy, AStopLeavesAnIncompleteResult) {
  const std::atomic<bool> stop{true};
  options.stop = &stop;
  const StudyResult result = run();
  EXPECT_FALSE(result.complete);
  EXPECT_TRUE(result.passed);
  EXPECT_FALSE(result.document.data.contains("sources"));
}

TEST_P(AnyStudy, ToldProgressRises) {
  std::uint64_t last = 0, total = 1;
  options.progress = [&](std::uint64_t done, std::uint64_t all) {
    EXPECT_GE(done, last);
    last = done;
    total = all;
  };
  run();
  if (options.sources.size() == 2) {
    EXPECT_EQ(last, total) << "and ends at the total";
  }
}

/// Studies that are slow at every effort, so only the tests of the command line run them.
const std::set<std::string_view> long_ones{"precision", "worst_cases"};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Study& study : found_studies())
    if (!long_ones.contains(study.name)) all.emplace_back(study.name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Studies, AnyStudy, testing::ValuesIn(names()), [](const auto& at) { return at.param; });

TEST(Studies, AreFound) {
  std::set<std::string_view> found;
  for (const Study& study : found_studies()) EXPECT_TRUE(found.insert(study.name).second) << study.name;
  for (const auto& [name, options] : sizes) EXPECT_TRUE(found.contains(name)) << name;
  for (const std::string_view name : long_ones) EXPECT_TRUE(found.contains(name)) << name;
}

TEST(DraftSamplingsStudy, FailsOnAVerifierAboveTheOptimum) {
  const VerifierOf<TakesTheFirst> wrong(Kind::verifier);
  const AnyVerifier& right = *registry().verifier("greedy_drafts");
  EXPECT_TRUE(studies::DraftSamplings::compare(small(4000), {&right}).passed);
  const StudyResult result = studies::DraftSamplings::compare(small(4000), {&right, &wrong});
  EXPECT_FALSE(result.passed);
  EXPECT_TRUE(complains_about(result, "greedy, takes_the_first of 4 drafts"));
}

TEST(DraftTemperaturesStudy, FailsOnASchemeAboveTheOptimum) {
  const DraftTemperatures::Scheme wrong{"wrong", [](const auto&, const auto&, int) { return 1.0; }};
  auto one = DraftTemperatures::schemes_of_one_proposal(),
       several = DraftTemperatures::schemes_of_several_proposals();
  one.push_back(wrong);
  EXPECT_TRUE(complains_about(DraftTemperatures::compare(small(2), one, several), "T = 2.4, K = 2, wrong"));
  several.push_back(wrong);
  EXPECT_TRUE(
      complains_about(DraftTemperatures::compare(small(2), DraftTemperatures::schemes_of_one_proposal(), several),
                      "T = spread, K = 2, wrong"));
}

// Checks the order of the schemes in every cell of the tables, on the captures: all temperatures and numbers of drafts,
// on the first positions. docs/studies/draft_temperatures.md has the whole table.
TEST(DraftTemperaturesStudy, EveryCellOfTheCapturesIsInOrder) {
  const std::string data = DRAFTPROOF_SOURCE_DIR "/data/";
  const StudyResult result = DraftTemperatures::run(
      {.sources = {data + "stories512_positions.npz", data + "mixed32k_positions.npz"}, .effort = 2, .seed = 1});
  EXPECT_TRUE(result.passed) << result.document.data["checks"];
  for (const auto& source : result.document.data["sources"]) {
    ASSERT_EQ(source["settings"].size(), 27u);  // eight temperatures and "spread", each for K = 2, 4 and 8
    double fewer = 0;
    for (const auto& cell : source["settings"]) {
      const auto of = [&cell](const char* scheme) { return cell["acceptance"][scheme].get<double>(); };
      const double two_step = of("two step"), rounding = 1e-11;  // V 2^-53, doubled K times
      EXPECT_LE(two_step, cell["optimum"]["upper"].get<double>() + rounding) << cell;
      if (cell["temperature"] == "spread") {
        EXPECT_GE(two_step + rounding, of("rejection")) << cell;
        EXPECT_GE(two_step + rounding, of("rejection, last first")) << cell;
      } else {
        EXPECT_GE(two_step + rounding, of("K-SEQ")) << cell;
        EXPECT_GE(of("K-SEQ") + rounding, of("rejection")) << cell;
      }
      if (cell["drafts"] != 2) {
        EXPECT_GE(two_step + rounding, fewer) << cell;
      }
      fewer = two_step;
    }
  }
}

TEST(DraftTemperaturesStudy, FailsOnSchemesOutOfOrder) {
  const auto half = [](std::vector<DraftTemperatures::Scheme> schemes, const std::string& name) {
    for (DraftTemperatures::Scheme& scheme : schemes)
      if (scheme.name == name)
        scheme.acceptance = [right = scheme.acceptance](const auto& p, const auto& q, int drafts) {
          return 0.5 * right(p, q, drafts);
        };
    return schemes;
  };
  const auto one = DraftTemperatures::schemes_of_one_proposal(),
             several = DraftTemperatures::schemes_of_several_proposals();
  EXPECT_TRUE(complains_about(DraftTemperatures::compare(small(2), half(one, "K-SEQ"), several), "above K-SEQ"));
  EXPECT_TRUE(
      complains_about(DraftTemperatures::compare(small(2), half(one, "two step"), several), "K-SEQ above two step"));
  EXPECT_TRUE(complains_about(DraftTemperatures::compare(small(2), one, half(several, "tournament")), "tournament"));
  const StudyResult worse = DraftTemperatures::compare(small(2), one, half(several, "two step"));
  EXPECT_TRUE(complains_about(worse, "means, T = spread, K = 2, rejection above two step"));
  EXPECT_TRUE(complains_about(worse, "means, T = spread, K = 2, rejection, last first above two step"));
}

TEST(ResolutionTradeStudy, FailsOnAnOutputThatIsNotTheTarget) {
  auto schemes = ResolutionTrade::schemes();
  schemes.push_back({"lenience", {std::shared_ptr<void>(), registry().verifier("lenience")}, 0, false});
  EXPECT_TRUE(complains_about(ResolutionTrade::trade(small(2), schemes), "lenience on 6 tokens, K = 2, TV"));
}

TEST(ResolutionTradeStudy, FailsOnATolerancePromisedAndNotKept) {
  auto schemes = ResolutionTrade::schemes();
  schemes[0].tolerance = 0;
  EXPECT_FALSE(ResolutionTrade::trade(small(2), schemes).passed);
}

TEST(ResolutionTradeStudy, FailsOnASchemeBelowTheOptimumItClaims) {
  auto schemes = ResolutionTrade::schemes();
  ASSERT_EQ(schemes.back().name, "recursive_rejection");
  schemes.back().optimal = true;
  EXPECT_TRUE(
      complains_about(ResolutionTrade::trade(small(2), schemes), "recursive_rejection on 6 tokens, K = 2, optimum"));
}

TEST(ResolutionTradeStudy, TimesOnlyWhenAsked) {
  StudyOptions options = small(1);
  EXPECT_FALSE(
      ResolutionTrade::run(options).document.data["sources"][0]["points"][0].contains("microseconds_to_prepare"));
  options.timings = true;
  EXPECT_GT(ResolutionTrade::run(options).document.data["sources"][0]["points"][0]["microseconds_to_prepare"], 0);
}

/// The references were measured with another order of the same tokens, and have two digits.
constexpr double reference_tolerance = 0.10;

TEST(PrecisionStudy, ControlsComeOutAsElsewhere) {
  struct Reference {
    int vocabulary;
    double running_sum, uniforms_24, uniforms_32, bf16;
  };
  for (const auto& [vocabulary, running_sum, uniforms_24, uniforms_32, bf16] :
       std::array{Reference{32'000, 1.6e-4, 3.2e-4, 1.3e-6, 7e-4}, Reference{128'256, 7.0e-4, 1.3e-3, 5e-6, 7e-4},
                  Reference{262'144, 1.4e-3, 2.5e-3, 1e-5, 7e-4}}) {
    const auto p = exact_target(whole_rows(vocabulary, 1, 1, 1).target);
    EXPECT_NEAR(total_variation(Precision::running_float_sum(p), p), running_sum, reference_tolerance * running_sum);
    EXPECT_NEAR(total_variation(Precision::grid_distribution(p, 24), p), uniforms_24,
                reference_tolerance * uniforms_24);
    EXPECT_NEAR(total_variation(Precision::grid_distribution(p, 32), p), uniforms_32,
                reference_tolerance * uniforms_32);
    EXPECT_NEAR(total_variation(exact_target(bfloat16.round(p)), p), bf16, reference_tolerance * bf16);
  }
}

TEST(PrecisionStudy, GridByHand) {
  // Each multiple u of 1/4 gives the first token whose prefix sum is above u. The prefix sums are 3/16, 1/2 and 1, so
  // u = 0 gives token 0, 1/4 gives token 1, and 1/2 and 3/4 give token 2.
  EXPECT_EQ(Precision::grid_distribution({0.1875, 0.3125, 0.5}, 2), (std::vector{0.25, 0.25, 0.5}));
  EXPECT_EQ(Precision::grid_distribution({0.1875, 0.3125, 0.5}, 4), (std::vector{0.1875, 0.3125, 0.5}));
}

constexpr std::array vocabularies{3000};

TEST(PrecisionStudy, HoldsOnCorrectVerifiers) {
  const StudyResult result = Precision::audit_all(
      {}, {registry().verifier("recursive_rejection"), registry().verifier("recursive_rejection_wor")}, vocabularies);
  EXPECT_TRUE(result.passed) << result.document.data["checks"];
  EXPECT_EQ(result.document.data["forms"].size(), 6u);
  EXPECT_EQ(result.document.data["stored"].size(), 6u);
}

TEST(PrecisionStudy, FailsOnFloatSums) {
  static const VerifierOf<mutants::FloatRunningSum> wrong(Kind::mutant);
  const StudyResult result = Precision::audit_all({}, {&wrong}, vocabularies);
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.document.data["checks"]["failed"], 4) << "three forms, and float32 rows";
}

}  // namespace
}  // namespace draftproof
