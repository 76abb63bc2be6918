// Every study holds on correct schemes and fails with a wrong one; its data are the same bytes for any number of
// threads, and a stopped study reports that it is not complete.
#include <string>

#include <gtest/gtest.h>

#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/studies/figures/adaptive_drafts.hpp>
#include <draftproof/studies/figures/draft_laws.hpp>
#include <draftproof/studies/figures/draft_temperatures.hpp>
#include <draftproof/studies/figures/resolution_trade.hpp>

namespace draftproof {
namespace {

using studies::AdaptiveDrafts;
using studies::DraftTemperatures;
using studies::ResolutionTrade;

/// Accepts the first draft always: membership 1.
struct TakesTheFirst {
  static constexpr Info info{.name = "takes_the_first", .summary = "", .source = "", .drafts = DraftLaws{"greedy"}};
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R&) const {
    return accepted(at.draft(0), 0);
  }
};

StudyOptions small(std::uint64_t effort, const std::atomic<bool>* stop = nullptr) {
  return {.sources = {"zipf:vocabulary=20,positions=5", "bernoulli"}, .effort = effort, .seed = 3, .stop = stop};
}

bool complains_about(const StudyResult& result, const std::string& what) {
  for (const auto& text : result.document.data["checks"]["violations"])
    if (text.get<std::string>().find(what) != std::string::npos) return true;
  return false;
}

class AnyStudy : public testing::TestWithParam<std::string> {
 protected:
  /// The study of the test's name. The parameter is a name: with a pointer, test names would change from run to run.
  static StudyResult run(const StudyOptions& options) {
    const std::string name = GetParam();
    if (name == studies::DraftLaws::name) return studies::DraftLaws::run(options);
    if (name == AdaptiveDrafts::name) return AdaptiveDrafts::run(options);
    if (name == DraftTemperatures::name) return DraftTemperatures::run(options);
    return ResolutionTrade::run(options);
  }
  static std::string data_of(int threads) {
    StudyOptions options = small(4000);
    options.threads = threads;
    return run(options).document.data.dump();
  }
};

TEST_P(AnyStudy, HoldsOnWhatIsRegistered) {
  const StudyResult result = run(small(4000));
  EXPECT_TRUE(result.held) << result.document.data["checks"];
  EXPECT_TRUE(result.complete);
  EXPECT_GT(result.document.data["checks"]["checked"], 50);
  EXPECT_EQ(result.document.data.begin().key(), "schema");
  EXPECT_EQ(result.document.data["sources"].size(), 2u);
}

TEST_P(AnyStudy, SameBytesForAnyNumberOfThreads) {
  const std::string one = data_of(1);
  for (const int threads : {2, 5}) EXPECT_EQ(data_of(threads), one) << threads << " threads";
}

TEST_P(AnyStudy, AStopLeavesAnIncompleteResult) {
  const std::atomic<bool> stop{true};
  const StudyResult result = run(small(4000, &stop));
  EXPECT_FALSE(result.complete);
  EXPECT_TRUE(result.held);
  EXPECT_FALSE(result.document.data.contains("sources"));
}

TEST_P(AnyStudy, ToldProgressEndsAtTheTotal) {
  StudyOptions options = small(4000);
  std::uint64_t last = 0, total = 1;
  options.progress = [&](std::uint64_t done, std::uint64_t all) {
    EXPECT_GE(done, last);
    last = done;
    total = all;
  };
  run(options);
  EXPECT_EQ(last, total);
}

INSTANTIATE_TEST_SUITE_P(Studies, AnyStudy,
                         testing::Values("adaptive_drafts", "draft_laws", "draft_temperatures", "resolution_trade"));

TEST(DraftLawsStudy, FailsOnAVerifierAboveTheOptimum) {
  const VerifierOf<TakesTheFirst> wrong(Kind::verifier);
  const AnyVerifier& right = *registry().verifier("greedy_drafts");
  EXPECT_TRUE(studies::DraftLaws::compare(small(4000), {&right}).held);
  const StudyResult result = studies::DraftLaws::compare(small(4000), {&right, &wrong});
  EXPECT_FALSE(result.held);
  EXPECT_TRUE(complains_about(result, "greedy, takes_the_first of 4 drafts"));
}

TEST(DraftTemperaturesStudy, FailsOnASchemeAboveTheOptimum) {
  const TemperatureScheme wrong{"wrong", [](const auto&, const auto&, int) { return 1.0; }};
  auto one = schemes_of_one_proposal(), several = schemes_of_several_proposals();
  one.push_back(wrong);
  EXPECT_TRUE(complains_about(DraftTemperatures::compare(small(2), one, several), "T = 2.4, K = 2, wrong"));
  several.push_back(wrong);
  EXPECT_TRUE(complains_about(DraftTemperatures::compare(small(2), schemes_of_one_proposal(), several),
                              "T = spread, K = 2, wrong"));
}

// The order of the schemes in every cell of the tables, on the captures: all temperatures and numbers of drafts, the first
// positions of each. The whole table is that of docs/studies/draft_temperatures.md.
TEST(DraftTemperaturesStudy, EveryCellOfTheCapturesIsInOrder) {
  const std::string data = DRAFTPROOF_SOURCE_DIR "/data/";
  const StudyResult result = DraftTemperatures::run(
      {.sources = {data + "stories512_positions.npz", data + "mixed32k_positions.npz"}, .effort = 2, .seed = 1});
  EXPECT_TRUE(result.held) << result.document.data["checks"];
  for (const auto& source : result.document.data["sources"]) {
    ASSERT_EQ(source["settings"].size(), 27u);  // eight temperatures and the spread, K = 2, 4, 8
    double fewer = 0;
    for (const auto& cell : source["settings"]) {
      const auto of = [&cell](const char* scheme) { return cell["acceptance"][scheme].get<double>(); };
      const double two_step = of("two step"), rounding = 1e-11;  // V 2^-53, K times doubled: study's own tolerance
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
  const auto half = [](std::vector<TemperatureScheme> schemes, const std::string& name) {
    for (TemperatureScheme& scheme : schemes)
      if (scheme.name == name)
        scheme.acceptance = [right = scheme.acceptance](const auto& p, const auto& q, int drafts) {
          return 0.5 * right(p, q, drafts);
        };
    return schemes;
  };
  const auto one = schemes_of_one_proposal(), several = schemes_of_several_proposals();
  EXPECT_TRUE(complains_about(DraftTemperatures::compare(small(2), half(one, "K-SEQ"), several), "above K-SEQ"));
  EXPECT_TRUE(
      complains_about(DraftTemperatures::compare(small(2), half(one, "two step"), several), "K-SEQ above two step"));
  EXPECT_TRUE(complains_about(DraftTemperatures::compare(small(2), one, half(several, "tournament")), "tournament"));
  const StudyResult worse = DraftTemperatures::compare(small(2), one, half(several, "two step"));
  EXPECT_TRUE(complains_about(worse, "means, T = spread, K = 2, rejection above two step"));
  EXPECT_TRUE(complains_about(worse, "means, T = spread, K = 2, rejection, last first above two step"));
}

TEST(ResolutionTradeStudy, FailsOnAnOutputThatIsNotTheTarget) {
  auto schemes = traded_schemes();
  schemes.push_back({"lenience", {std::shared_ptr<void>(), registry().verifier("lenience")}, 0, false});
  EXPECT_TRUE(complains_about(ResolutionTrade::trade(small(2), schemes), "lenience on 6 tokens, K = 2, TV"));
}

TEST(ResolutionTradeStudy, FailsOnATolerancePromisedAndNotKept) {
  auto schemes = traded_schemes();
  schemes[0].tolerance = 0;
  EXPECT_FALSE(ResolutionTrade::trade(small(2), schemes).held);
}

TEST(ResolutionTradeStudy, FailsOnASchemeBelowTheOptimumItClaims) {
  auto schemes = traded_schemes();
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

}  // namespace
}  // namespace draftproof
