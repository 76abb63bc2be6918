#include <draftproof/adapters/gate/judgement.hpp>

#include <cmath>

#include <gtest/gtest.h>

namespace draftproof::adapters {
namespace {

/// One draft, always token 1, with p / q = 1/2. A correct program emits token 0 in its place with probability 1/2.
SmallModel half_accepted() {
  return small_model_of(PathInstance::parse("L=1 K=1 [] p=(1 1)/2 q=(0 1)/1 [1] p=(1 3)/4 q=(1 0)/1"), "iid",
                        Level::chain);
}

OutcomeMass emitted(std::vector<Token> tokens, double probability) {
  return {{.tokens = std::move(tokens)}, probability};
}
OutcomeMass ended(RowStatus status, double probability) { return {{.status = status}, probability}; }

const Declaration judged{.name = "judged"};

Judgement judgement_of(const SmallModel& small_model, std::vector<OutcomeMass> outcomes, double limit = 0) {
  EXPECT_EQ(small_model.inputs.size(), 1u);
  ProgramDistribution distribution{.outcomes = std::move(outcomes), .limit = limit};
  return judge(small_model, std::span(&distribution, 1), judged);
}

void expect_worst(const Judgement& judgement, const Tokens& prefix, Token token, double found, double wanted) {
  ASSERT_TRUE(judgement.worst.has_value());
  EXPECT_EQ(judgement.worst->prefix, prefix);
  EXPECT_EQ(judgement.worst->token, token);
  EXPECT_EQ(judgement.worst->found, found);
  EXPECT_EQ(judgement.worst->wanted, wanted);
}

TEST(Judgement, CompletesStringsByTheTarget) {
  // The string (0), which is shorter than the longest string, is extended by the target to (0 0) and (0 1) with
  // probability 1/4 each.
  const Judgement right =
      judgement_of(half_accepted(), {emitted({0}, .5), emitted({1, 0}, 1. / 8), emitted({1, 1}, 3. / 8)});
  EXPECT_EQ(right.distance, 0);
  EXPECT_EQ(right.mass, 1);
  EXPECT_EQ(right.acceptance, .5);
  EXPECT_TRUE(right.edges.empty());
  EXPECT_FALSE(right.wrong());
  // If the program ends its strings after more or fewer tokens, the extended strings still have the target's
  // distribution.
  EXPECT_EQ(judgement_of(half_accepted(), {emitted({0}, .5), emitted({1}, .5)}).distance, 0);
  EXPECT_EQ(judgement_of(half_accepted(), {emitted({0, 0}, .25), emitted({0, 1}, .25), emitted({1}, .5)}).distance,
            0);
}

TEST(Judgement, TokensOverThreePositions) {
  const SmallModel small_model =
      small_model_of(PathInstance::parse("L=2 K=1 [] p=(1 1)/2 q=(0 1)/1"), "iid", Level::chain);
  // The program accepts (1 1) with probability 1/4, and only (1) with probability 1/4. After (1 1) the last token is 1
  // with probability 1 instead of 1/2, so the total variation is 1/8.
  const Judgement late = judgement_of(small_model, {emitted({0}, .5), emitted({1, 0}, .25), emitted({1, 1, 1}, .25)});
  EXPECT_EQ(late.distance, 1. / 8);
  EXPECT_EQ(late.acceptance, 1 * .25 + 2 * .25);
  expect_worst(late, {1, 1}, 0, 0, 1. / 8);
}

TEST(Judgement, DistanceAndWorstTokenOfAResidualOfP) {
  const Judgement wrong = judgement_of(
      half_accepted(), {emitted({0}, .25), emitted({1}, .25), emitted({1, 0}, 1. / 8), emitted({1, 1}, 3. / 8)});
  // 1/2 (|1/8 - 1/4| + |1/8 - 1/4| + |3/16 - 1/8| + |9/16 - 3/8|)
  EXPECT_EQ(wrong.distance, .25);
  EXPECT_TRUE(wrong.wrong());
  expect_worst(wrong, {}, 0, .25, .5);
}

TEST(Judgement, WorstTokenIsNamedWhereItGoesWrong) {
  const Judgement wrong =
      judgement_of(half_accepted(), {emitted({0}, .5), emitted({1, 0}, .25), emitted({1, 1}, .25)});
  EXPECT_EQ(wrong.distance, 1. / 8);
  expect_worst(wrong, {1}, 0, .25, 1. / 8);
}

TEST(Judgement, MissingMassCountsAsDistance) {
  const Judgement missing =
      judgement_of(half_accepted(), {emitted({0}, .5), emitted({1, 1}, .25), ended(RowStatus::failed, .25)});
  EXPECT_EQ(missing.mass, .75);
  // 1/2 (1/4 + |0 - 1/8| + |1/4 - 3/8|), where the first 1/4 is the mass without tokens
  EXPECT_EQ(missing.distance, .25);
  ASSERT_EQ(missing.edges.size(), 1u);
  EXPECT_EQ(missing.edges[0].what, "on drafts (1): fails");
  EXPECT_EQ(missing.edges[0].probability, .25);
  EXPECT_FALSE(missing.edges[0].emits);
  EXPECT_EQ(judgement_of(half_accepted(), {}).distance, 1) << "nothing explored";
}

TEST(Judgement, EveryStatusHasItsWords) {
  for (const auto& [status, words] : {std::pair{RowStatus::bad_input, "refuses the row"},
                                      {RowStatus::unsupported, "does not support the row"},
                                      {RowStatus::failed, "fails"},
                                      {RowStatus::no_mass, "draws from weights that are all zero"},
                                      {RowStatus::tape_short, "draws more random numbers than the tape has"},
                                      {RowStatus::crashed, "dies"}}) {
    const Judgement judgement = judgement_of(half_accepted(), {ended(status, 1)});
    ASSERT_EQ(judgement.edges.size(), 1u);
    EXPECT_EQ(judgement.edges[0].what, std::string("on drafts (1): ") + words);
    EXPECT_EQ(judgement.distance, 1);
  }
}

TEST(Judgement, EdgesAreTokensThatTheTargetNeverEmits) {
  const SmallModel small_model =
      small_model_of(PathInstance::parse("L=1 K=1 [] p=(0 1)/1 q=(1 0)/1"), "iid", Level::chain);
  const Judgement judgement =
      judgement_of(small_model, {emitted({0, 1}, 0x1p-24), emitted({}, 0x1p-23), emitted({1, 1, 1}, 0x1p-22),
                                 emitted({2}, 0x1p-21), emitted({1, 0}, 0x1p-20), emitted({1}, 1 - 31 * 0x1p-24)});
  ASSERT_EQ(judgement.edges.size(), 5u);  // likeliest first
  const auto expect = [&](std::size_t i, const char* what, double probability) {
    EXPECT_EQ(judgement.edges[i].what, what);
    EXPECT_EQ(judgement.edges[i].probability, probability);
    EXPECT_EQ(judgement.edges[i].input, 0u);
    EXPECT_TRUE(judgement.edges[i].emits);
  };
  expect(0, "on drafts (0): emits token 0 after [1], which has p = 0", 0x1p-20);
  expect(1, "on drafts (0): emits 2, which is not in the vocabulary", 0x1p-21);
  expect(2, "on drafts (0): emits 3 tokens, at most 2 are possible", 0x1p-22);
  expect(3, "on drafts (0): emits nothing", 0x1p-23);
  expect(4, "on drafts (0): emits token 0 after [], which has p = 0", 0x1p-24);
  // The target cannot give (0 1), (2) and (1 0). (1 1 1) is cut to (1 1), and the empty string is extended to (1 1).
  EXPECT_NEAR(judgement.distance, 0x1p-24 + 0x1p-21 + 0x1p-20, 0x1p-50);
}

TEST(Judgement, WeighsInputsByTheirProbability) {
  const SmallModel small_model = small_model_of(Instance::parse("p=(1 1)/2 q=(1 3)/4 K=1"), "iid");
  ASSERT_EQ(small_model.inputs[0].drafts, std::vector<Token>{0});
  // The program always accepts, so its distribution is q. The first input has probability 1/4.
  const std::vector<ProgramDistribution> distributions{{.outcomes = {emitted({0}, 1)}, .limit = .125},
                                                       {.outcomes = {emitted({1}, 1)}, .limit = .0625}};
  Declaration declaration = judged;
  declaration.tolerance = .5;
  declaration.dtypes = {Dtype::bfloat16};
  const Judgement judgement = judge(small_model, distributions, declaration);
  EXPECT_EQ(judgement.distance, .25);
  EXPECT_EQ(judgement.acceptance, 1);
  EXPECT_EQ(judgement.limit, .125 + .5 + 2 * 5 * 0x1p-8);
  EXPECT_FALSE(judgement.wrong());
  // At one position only a drafted token can be accepted.
  const std::vector<ProgramDistribution> never{{.outcomes = {emitted({1}, 1)}}, {.outcomes = {emitted({0}, 1)}}};
  EXPECT_EQ(judge(small_model, never, judged).acceptance, 0);
}

TEST(Judgement, LimitsOfTheFormats) {
  EXPECT_EQ(significant_bits(Dtype::float64), 53);
  EXPECT_EQ(significant_bits(Dtype::float32), 24);
  EXPECT_EQ(significant_bits(Dtype::float16), 11);
  EXPECT_EQ(significant_bits(Dtype::bfloat16), 8);
  // Arguments: one draft, so two decisions, and three tokens. Each decision has 2 roundings of the rows, 3 of a sum and
  // 1 of a quotient.
  EXPECT_EQ(rounding_limit(Dtype::float32, 1, 3), 2 * 6 * 0x1p-24);
  EXPECT_EQ(rounding_limit(Dtype::float64, 3, 2), 4 * 5 * 0x1p-53);
}

TEST(Judgement, NumbersInWords) {
  EXPECT_EQ(fraction_text(5. / 6, 1e-12), "5/6");
  EXPECT_EQ(fraction_text(0, 1e-12), "0");
  EXPECT_EQ(fraction_text(1, 1e-12), "1");
  EXPECT_EQ(fraction_text(999. / 1000, 1e-12), "999/1000");
  EXPECT_EQ(fraction_text(1. / 1001, 1e-12), "0.000999001");
  EXPECT_EQ(fraction_text(.5 + 1e-7, 1e-6), "1/2");
  EXPECT_EQ(fraction_text(.5 + 1e-7, 1e-8), "0.5");
  EXPECT_EQ(probability_text(.25), "1/4");
  EXPECT_EQ(probability_text(0x1p-24), "2^-24");
  EXPECT_EQ(probability_text(3 * 0x1p-24), "3 * 2^-24");
  EXPECT_EQ(probability_text(0x1p-32), "2^-32");
  EXPECT_EQ(probability_text(0x1p-25), "2^-25");
  EXPECT_EQ(probability_text(0x1p-53), "2^-53");
  EXPECT_EQ(probability_text(5 * 0x1p-53), "5 * 2^-53");
  EXPECT_EQ(probability_text(1e-9), "1e-09");
  EXPECT_EQ(probability_text(1), "1");
  EXPECT_EQ(probability_text(1 - 0x1p-24), "1 - 2^-24");
  EXPECT_EQ(probability_text(1 - 3 * 0x1p-32), "1 - 3 * 2^-32");
  EXPECT_EQ(probability_text(1 - 0x1p-53), "1");  // a sum with the exact value 1 may round to this number
}

}  // namespace
}  // namespace draftproof::adapters
