// Tests of the study of the gate's power: deviations have their declared size and shape, wrong programs are detected,
// correct programs pass, and a detection that needs more trials than its reference fails the study.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <draftproof/bench/studies/figures/gate_power.hpp>

namespace draftproof {
namespace {

using studies::GatePower;

StudyOptions power_options(std::uint64_t effort) {
  return {.sources = {"zipf:vocabulary=60,exponent=1.1,draft_exponent=1.1,noise=0.8,shuffle=1"},
          .effort = effort,
          .seed = 3};
}

RowPair power_pair() {
  registry();
  return Source::open(power_options(0).sources[0], {.seed = 3}).pair(0);
}

TEST(DeviationShapes, HaveTheDistanceAskedFor) {
  const RowPair pair = power_pair();
  const RatioTable table(pair.target, pair.proposals);
  for (const ShapeReference& shape : deviation_shapes)
    for (const double distance : {1e-3, 1e-2}) {
      const auto distribution = deviating_distribution(shape.shape, table, distance, 5);
      double sum = 0, apart = 0;
      for (std::size_t x = 0; x < distribution.size(); ++x) {
        EXPECT_GE(distribution[x], 0) << shape.about;
        sum += distribution[x];
        apart += std::abs(distribution[x] - table.target(static_cast<Token>(x))) / 2;
      }
      // The sum has sixty terms below 1, each rounded once or twice.
      EXPECT_NEAR(sum, 1, 1e-14) << shape.about;
      EXPECT_NEAR(apart, distance, 1e-14) << shape.about;
    }
}

TEST(DeviationShapes, GoWhereTheyAreNamedFor) {
  const RowPair pair = power_pair();
  const RatioTable table(pair.target, pair.proposals);
  const auto moved = [&](Shape shape) {
    std::size_t up = 0, down = 0;
    for (const int sign : signs_of(shape, table, 5)) {
      up += sign > 0;
      down += sign < 0;
    }
    return std::pair(up, down);
  };
  EXPECT_EQ(moved(Shape::top_to_second), std::pair(std::size_t{1}, std::size_t{1}));
  EXPECT_EQ(moved(Shape::one_rank), std::pair(std::size_t{1}, std::size_t{59}));
  const auto [up, down] = moved(Shape::rare_signs);
  EXPECT_EQ(up + down, 30u);
  EXPECT_GT(std::min(up, down), 5u);
  EXPECT_LT(moved(Shape::head_against_tail).first, 20u);
  const auto along = signs_of(Shape::along_ratio, table, 5);
  EXPECT_EQ(along[static_cast<std::size_t>(table.order().front())], 1);
  EXPECT_EQ(along[static_cast<std::size_t>(table.order().back())], -1);
}

TEST(WrongPrograms, RoundAndCutAsTheySay) {
  EXPECT_EQ(bfloat16.round(1.0), 1.0);
  EXPECT_EQ(bfloat16.round(1 + 0x1p-8), 1.0);  // a tie rounds to even
  EXPECT_EQ(bfloat16.round(1 + 0x3p-8), 1 + 0x4p-8);
  EXPECT_EQ(bfloat16.round(1 + 0x1.1p-8), 1 + 0x1p-7);
  EXPECT_EQ(without_tail({0.125, 0.5, 0.25, 0.125}, 0.75), to_sum_one({0, 0.5, 0.25, 0}));
  EXPECT_EQ(without_tail({0.125, 0.5, 0.25, 0.125}, 0.8), to_sum_one({0.125, 0.5, 0.25, 0}));
  EXPECT_EQ(at_temperature({0.2, 0.8}, 0.5), to_sum_one({0.2 * 0.2, 0.8 * 0.8}));
}

TEST(WrongPrograms, ServeWhatTheirNamesSay) {
  // V = 2. Only token 0 is drafted, and p = (1 1)/2, so half of the drafts are rejected.
  const RatioTable table(std::vector<double>{0.5, 0.5}, std::vector<double>{1, 0});
  const auto share_of_first = [&](const auto& decide, std::vector<Token> drafts) {
    constexpr int trials = 4096;
    int first = 0;
    for (std::uint64_t trial = 0; trial < trials; ++trial) {
      Philox random(1, trial, Philox::Role::verify);
      first += decide(table, std::span<const Token>(drafts), random).token == 0;
    }
    return static_cast<double>(first) / trials;
  };
  const auto recursive = [](bool one_word, bool rest_from_target) {
    return [=](const RatioTable& distributions, std::span<const Token> drafts, Philox& random) {
      return recursive_rejection_with(distributions, drafts, random, one_word, rest_from_target);
    };
  };
  // In 4,096 trials a frequency is wrong by 0.05, six standard deviations, with probability below 1e-8.
  constexpr double near = 0.05;
  EXPECT_NEAR(share_of_first(recursive(false, false), {0}), 0.5, near) << "right as it stands";
  EXPECT_NEAR(share_of_first(recursive(false, true), {0}), 0.75, near);
  EXPECT_NEAR(share_of_first(siblings_kept, {0}), 0.75, near);
  EXPECT_NEAR(share_of_first(residual_not_normalised, {0}), 0.5, near) << "the rest is the last token's own";
  EXPECT_NEAR(share_of_first(word_reused_for_residual(table), {0}), 0.5, near);
}

TEST(AlarmExposures, MedianTakesARunWithoutAlarmForAnEndlessOne) {
  constexpr double never = std::numeric_limits<double>::infinity();
  PowerRow row{};
  row.log2_exposures = {5, 6, never};
  EXPECT_EQ(row.median(), 6);
  EXPECT_EQ(row.largest(), never);
  EXPECT_EQ(GatePower::power_of_two_text(never), "-");
  EXPECT_EQ(GatePower::power_of_two_text(12), "2^12");
  EXPECT_EQ(GatePower::power_of_two_text(27.5), "2^27.5");
}

std::vector<PowerRow> poser(std::string_view scheme, double reference) {
  return {
      {"poser", {std::shared_ptr<void>(), registry().verifier(scheme)}, "single_draft", "iid", 1, reference, "?"}};
}

TEST(GatePowerStudy, FailsWhereAReferenceIsMissed) {
  const auto study = [](std::string_view scheme, double reference) {
    return GatePower::measure(
        power_options(9), [&](const RowPair&, const RatioTable&) { return poser(scheme, reference); },
        GatePower::References::compared);
  };
  const auto complaint = [](const StudyResult& result) {
    for (const auto& text : result.document.data["checks"]["violations"])
      if (text.get<std::string>().find("poser") != std::string::npos) return true;
    return false;
  };
  EXPECT_TRUE(complaint(study("single_draft", 4))) << "a right verifier is never seen";
  EXPECT_FALSE(complaint(study("resample_from_target", 9)));
  EXPECT_TRUE(complaint(study("resample_from_target", 0)));
  // The study fails, because 2^9 trials do not detect deviations for which the nightly profile is needed.
  EXPECT_FALSE(study("resample_from_target", 9).passed);
}

}  // namespace
}  // namespace draftproof
