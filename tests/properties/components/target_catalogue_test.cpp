// Wrong sources of target rows on instances that can be checked by hand, with exact distances; and correct sources
// that look wrong.
#include <gtest/gtest.h>

#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/components/target/chains.hpp>
#include <draftproof/sim/components/target/target_rows.hpp>

namespace draftproof {
namespace {

std::string target_complaint(std::string_view source, std::string_view check, std::string_view instance) {
  for (const std::string_view correct : {"request_rows", "batched_logits"}) {
    const auto finding = examine_one(correct, check, instance);
    EXPECT_TRUE(finding && finding->status == Status::held) << correct << ": " << finding->evidence;
  }
  const auto finding = examine_one(source, check, instance);
  EXPECT_TRUE(finding && finding->status == Status::violated) << source << ", " << check << ": " << instance;
  return finding ? finding->evidence : "";
}

TEST(WrongTargets, DefaultTemperature) {
  // Temperature 1/2 squares weights: (1 2)/3 where (1 4)/5 was asked for.
  for (const char* check : {"rows_by_prefix", "completed_law"})
    EXPECT_NE(target_complaint("target_at_default_temperature", check, "w=(1 2)/3 q=(1 1)/2 cold=2")
                  .find("got (1/3 2/3), wanted (1/5 4/5), TV 2/15"),
              std::string::npos);
}

TEST(WrongTargets, FiltersOnTheBonusRowAlone) {
  const char* filtered = "w=(2 1)/3,(2 1)/3 q=(1 1)/2 top_k=1";
  EXPECT_NE(
      target_complaint("filter_reaches_bonus_only", "removed_tokens", filtered).find("after [] token 1 has 1/3"),
      std::string::npos);
  EXPECT_NE(target_complaint("filter_reaches_bonus_only", "completed_law", filtered).find("TV 1/3"),
            std::string::npos);
  target_complaint("filter_reaches_bonus_only", "rows_by_prefix", "w=(4 1)/5,(1 1)/2 q=(1 1)/2 min_p=2");
  target_complaint("filter_reaches_bonus_only", "rows_by_prefix", "w=(4 1)/5,(1 1)/2 q=(1 1)/2 bias=(1 2)/3");
}

TEST(WrongTargets, LastTokenCountedTwice) {
  // Weight 1/2 for one occurrence of token 0, 1/4 if it counts twice.
  EXPECT_NE(target_complaint("penalty_counts_last_token_twice", "rows_by_prefix",
                             "w=(0 1)/1,(1 1)/2,(1 1)/2 q=(1 1)/2 text=(0) penalty=2")
                .find("after [0] got (1/9 8/9), wanted (1/5 4/5), TV 4/45"),
            std::string::npos);
  EXPECT_NE(target_complaint("penalty_counts_last_token_twice", "completed_law",
                             "w=(0 1)/1,(1 1)/2,(1 1)/2 q=(1 1)/2 text=(0) penalty=2")
                .find("after [1] got (1/3 2/3), wanted (1/2 1/2), TV 1/6"),
            std::string::npos);
}

TEST(WrongTargets, ArgmaxWithoutAKernel) {
  EXPECT_NE(target_complaint("target_argmax_fallback", "completed_law", "w=(1 1)/2 q=(1 1)/2 generic").find("TV 1/2"),
            std::string::npos);
  EXPECT_EQ(examine_one("target_argmax_fallback", "completed_law", "w=(1 1)/2 q=(1 1)/2")->status, Status::held);
}

TEST(WrongTargets, TopPWithoutTheTokenThatReachesIt) {
  // 2/3 is below 70 %, so token 1 reaches it and stays.
  EXPECT_NE(target_complaint("top_p_leaves_out_the_last", "rows_by_prefix", "w=(2 1)/3 q=(1 1)/2 top_p=70")
                .find("got (1 0), wanted (2/3 1/3), TV 1/3"),
            std::string::npos);
}

TEST(WrongTargets, AChainOfFiltersTakenJointly) {
  // After top-k 2 the first token has 3/5, which is above 55 %; of the whole row it has 1/2.
  const char* both = "w=(3 2 1)/6 q=(1 1 1)/3 top_k=2 top_p=55";
  EXPECT_NE(
      target_complaint("chain_filtered_jointly", "rows_by_prefix", both).find("got (3/5 2/5 0), wanted (1 0 0)"),
      std::string::npos);
  EXPECT_EQ(examine_one("chain_filtered_jointly", "rows_by_prefix", std::string(both) + " joint")->status,
            Status::held);
}

TEST(WrongTargets, FiltersBeforeTheTemperature) {
  // Squared, the first token has 4/5 alone.
  const char* cold = "w=(2 1)/3 q=(1 1)/2 cold=2 top_p=70";
  EXPECT_NE(
      target_complaint("filters_before_temperature", "rows_by_prefix", cold).find("got (4/5 1/5), wanted (1 0)"),
      std::string::npos);
  EXPECT_EQ(examine_one("filters_before_temperature", "rows_by_prefix", std::string(cold) + " cold_last")->status,
            Status::held);
}

TEST(WrongTargets, TemperaturesBesideOneAndZero) {
  // Weights 1 and 2^4: at inverse temperature 5/4 they are 1 and 2^5.
  EXPECT_NE(target_complaint("temperature_near_one_skipped", "rows_by_prefix", "w=(1 2)/3 q=(1 1)/2 cold=5 grain=4")
                .find("got (1/17 16/17), wanted (1/33 32/33)"),
            std::string::npos);
  EXPECT_NE(target_complaint("low_temperature_is_greedy", "rows_by_prefix", "w=(1 2)/3 q=(1 1)/2 cold=12 grain=4")
                .find("got (0 1), wanted (1/4097 4096/4097)"),
            std::string::npos);
  for (const char* cold : {"w=(1 2)/3 q=(1 1)/2 cold=4 grain=4", "w=(1 2)/3 q=(1 1)/2 cold=0 grain=4"})
    for (const char* name : {"temperature_near_one_skipped", "low_temperature_is_greedy"})
      EXPECT_EQ(examine_one(name, "rows_by_prefix", cold)->status, Status::held) << name << ", " << cold;
}

TEST(Targets, TypicalPKeepsWhatIsAsSurprisingAsTheMean) {
  // Of (8 4 1 1)/14 the entropy is 1.09: surprises .56, 1.25, 2.64, 2.64. Token 1 is nearest, then token 0: 12/14 of the
  // mass, so that 60 % takes both and 20 % the second alone.
  const auto row = [](const char* text) {
    const TargetCase one = TargetCase::parse(text);
    const Token none = 0;
    return components::target::RequestRows{}.row<Rational>(one.request, &none, 0);
  };
  EXPECT_EQ(row("w=(8 4 1 1)/14 q=(1 1 1 1)/4 typical_p=20"), (std::vector<Rational>{0, 1, 0, 0}));
  EXPECT_EQ(row("w=(8 4 1 1)/14 q=(1 1 1 1)/4 typical_p=60"),
            (std::vector<Rational>{Rational(2, 3), Rational(1, 3), 0, 0}));
}

TEST(WrongTargets, ABonusRowWithoutTheDrafts) {
  // Half the weight for each occurrence: behind draft 0 token 0 has (1 2)/3, and not (1 1)/2.
  for (const char* check : {"rows_by_prefix", "completed_law"})
    EXPECT_NE(target_complaint("bonus_forgets_drafts", check, "w=(1 1)/2,(1 1)/2 q=(1 1)/2 penalty=2").find("TV 1/6"),
              std::string::npos)
        << target_complaint("bonus_forgets_drafts", check, "w=(1 1)/2,(1 1)/2 q=(1 1)/2 penalty=2");
}

TEST(Targets, HideWhatTheyHide) {
  const char* plain = "w=(1 2)/3,(2 1)/3 q=(1 1)/2";
  for (const char* name : {"target_at_default_temperature", "filter_reaches_bonus_only", "bonus_forgets_drafts",
                           "penalty_counts_last_token_twice", "target_argmax_fallback"})
    EXPECT_EQ(examine_one(name, "rows_by_prefix", plain)->status, Status::held) << name;
}

TEST(Targets, TemperatureZeroIsOneToken) {
  const TargetCase one = TargetCase::parse("w=(3 3 1)/7,(1 2 2)/5 q=(1 1 1)/3 cold=0");
  const Token none = 0;
  const components::target::RequestRows rows;
  EXPECT_EQ(rows.row<Rational>(one.request, &none, 0), (std::vector<Rational>{1, 0, 0}));
  EXPECT_EQ(rows.row<Rational>(one.request, &none, 1), (std::vector<Rational>{0, 1, 0}));
  EXPECT_EQ(examine_one("request_rows", "completed_law", one.text())->status, Status::held);
}

TEST(Targets, TokensThatAreNeverDrafted) {
  EXPECT_EQ(examine_one("request_rows", "completed_law", "w=(1 2 3)/6,(3 2 1)/6,(1 1 1)/3 q=(0 1 1)/2")->status,
            Status::held);
}

TEST(Targets, RowsByHand) {
  // After text 0 and draft 1: weights 4/2, 6/2 and 5, squared (4 9 25), of which min-p 1/4 keeps those above 25/4.
  const TargetCase one = TargetCase::parse("w=(1 1 1)/3,(4 6 5)/15 q=(1 1 1)/3 text=(0) cold=2 min_p=4 penalty=2");
  const std::vector<Token> drafted{1};
  const std::vector<Rational> wanted{0, Rational(9, 34), Rational(25, 34)};
  EXPECT_EQ(components::target::RequestRows{}.row<Rational>(one.request, drafted.data(), 1), wanted);
}

TEST(TargetCases, TextIsReadBack) {
  for (int n = 0; n < 200; ++n) {
    const TargetCase one = generate_target_case(7, n);
    ASSERT_TRUE(one.valid()) << one.text();
    EXPECT_EQ(TargetCase::parse(one.text()), one);
  }
}

TEST(TargetCases, BadTextIsRefused) {
  for (const char* text :
       {"", "w=(1 1)/2", "w=(1 1)/2 q=(1)/1", "w=(1 1)/2 q=(1 1)/2 text=(2)", "w=(1 1)/2 q=(1 1)/2 penalty=0",
        "w=(1 1)/2 q=(1 1)/2 mask=(1 1)/2,(1 1)/2", "w=(1 1)/2 q=(1 1)/2 cold=13", "w=(1 1)/2 q=(1 1)/2 top_p=100",
        "w=(1 1)/2 q=(1 1)/2 grain=5", "w=(1 1)/2 q=(1 1)/2 hot"})
    EXPECT_THROW(TargetCase::parse(text), std::invalid_argument) << text;
}

}  // namespace
}  // namespace draftproof
