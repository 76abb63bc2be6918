// Tests of wrong sources of target rows on instances that can be checked by hand, with exact distances, and of correct
// sources that look wrong.
#include <gtest/gtest.h>

#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/components/target/target_group.hpp>
#include <draftproof/sim/components/target/target_rows.hpp>

namespace draftproof {
namespace {

std::string target_complaint(std::string_view source, std::string_view check, std::string_view instance) {
  for (const std::string_view correct : {"request_rows", "batched_logits"}) {
    const auto finding = examine_one(correct, check, instance);
    EXPECT_TRUE(finding && finding->status == Status::passed) << correct << ": " << finding->evidence;
  }
  const auto finding = examine_one(source, check, instance);
  EXPECT_TRUE(finding && finding->status == Status::failed) << source << ", " << check << ": " << instance;
  return finding ? finding->evidence : "";
}

struct WrongTarget {
  const char *source, *check, *instance;
  std::string_view part;  ///< part of the evidence
};

const char* const filtered = "w=(2 1)/3,(2 1)/3 q=(1 1)/2 top_k=1";
const char* const counted = "w=(0 1)/1,(1 1)/2,(1 1)/2 q=(1 1)/2 text=(0) penalty=2";
const char* const behind_a_draft = "w=(1 1)/2,(1 1)/2 q=(1 1)/2 penalty=2";
const char* const squared = "w=(1 2)/3 q=(1 1)/2 cold=2";

const WrongTarget wrong_targets[]{
    // Temperature 1/2 squares weights: the row is (1 2)/3 instead of (1 4)/5.
    {"target_at_default_temperature", "rows_by_prefix", squared, "got (1/3 2/3), expected (1/5 4/5), TV 2/15"},
    {"target_at_default_temperature", "completed_distribution", squared,
     "got (1/3 2/3), expected (1/5 4/5), TV 2/15"},
    {"filter_reaches_bonus_only", "removed_tokens", filtered, "after [] token 1 has 1/3"},
    {"filter_reaches_bonus_only", "completed_distribution", filtered, "TV 1/3"},
    {"filter_reaches_bonus_only", "rows_by_prefix", "w=(4 1)/5,(1 1)/2 q=(1 1)/2 min_p=2", ""},
    {"filter_reaches_bonus_only", "rows_by_prefix", "w=(4 1)/5,(1 1)/2 q=(1 1)/2 bias=(1 2)/3", ""},
    // Token 0 has weight 1/2 for one occurrence, and 1/4 if the occurrence counts twice.
    {"penalty_counts_last_token_twice", "rows_by_prefix", counted,
     "after [0] got (1/9 8/9), expected (1/5 4/5), TV 4/45"},
    {"penalty_counts_last_token_twice", "completed_distribution", counted,
     "after [1] got (1/3 2/3), expected (1/2 1/2), TV 1/6"},
    {"target_argmax_fallback", "completed_distribution", "w=(1 1)/2 q=(1 1)/2 generic", "TV 1/2"},
    // Token 0 has probability 2/3, which is below 70 %; token 1, which reaches 70 %, is kept.
    {"top_p_leaves_out_the_last", "rows_by_prefix", "w=(2 1)/3 q=(1 1)/2 top_p=70",
     "got (1 0), expected (2/3 1/3), TV 1/3"},
    // After top-k 2 token 0 has probability 3/5, which is above 55 %, so top-p keeps only token 0. In the whole row
    // token 0 has 1/2, so the mutant keeps two tokens.
    {"chain_filtered_jointly", "rows_by_prefix", "w=(3 2 1)/6 q=(1 1 1)/3 top_k=2 top_p=55",
     "got (3/5 2/5 0), expected (1 0 0)"},
    // After squaring of the weights, token 0 alone has 4/5, which is above 70 %.
    {"filters_before_temperature", "rows_by_prefix", "w=(2 1)/3 q=(1 1)/2 cold=2 top_p=70",
     "got (4/5 1/5), expected (1 0)"},
    // grain=4 raises the weights (1 2) to the power of 4 times the inverse temperature: they become 1 and 2^4 at
    // inverse temperature 1, and 1 and 2^5 at 5/4.
    {"temperature_near_one_skipped", "rows_by_prefix", "w=(1 2)/3 q=(1 1)/2 cold=5 grain=4",
     "got (1/17 16/17), expected (1/33 32/33)"},
    {"low_temperature_is_greedy", "rows_by_prefix", "w=(1 2)/3 q=(1 1)/2 cold=12 grain=4",
     "got (0 1), expected (1/4097 4096/4097)"},
    // Each occurrence halves the weight: after draft 0 the row is (1 2)/3, and not (1 1)/2.
    {"bonus_forgets_drafts", "rows_by_prefix", behind_a_draft, "TV 1/6"},
    {"bonus_forgets_drafts", "completed_distribution", behind_a_draft, "TV 1/6"}};

TEST(WrongTargets, AreReportedOnInstancesByHand) {
  for (const auto& [source, check, instance, part] : wrong_targets) {
    const std::string complaint = target_complaint(source, check, instance);
    EXPECT_NE(complaint.find(part), std::string::npos) << source << ", " << check << ": " << complaint;
  }
}

TEST(WrongTargets, AreRightElsewhere) {
  const std::pair<const char*, const char*> right[]{
      {"chain_filtered_jointly", "w=(3 2 1)/6 q=(1 1 1)/3 top_k=2 top_p=55 joint"},
      {"filters_before_temperature", "w=(2 1)/3 q=(1 1)/2 cold=2 top_p=70 cold_last"},
      {"temperature_near_one_skipped", "w=(1 2)/3 q=(1 1)/2 cold=4 grain=4"},
      {"temperature_near_one_skipped", "w=(1 2)/3 q=(1 1)/2 cold=0 grain=4"},
      {"low_temperature_is_greedy", "w=(1 2)/3 q=(1 1)/2 cold=4 grain=4"},
      {"low_temperature_is_greedy", "w=(1 2)/3 q=(1 1)/2 cold=0 grain=4"}};
  for (const auto& [source, instance] : right)
    EXPECT_EQ(examine_one(source, "rows_by_prefix", instance)->status, Status::passed) << source << ", " << instance;
  EXPECT_EQ(examine_one("target_argmax_fallback", "completed_distribution", "w=(1 1)/2 q=(1 1)/2")->status,
            Status::passed);
  const char* plain = "w=(1 2)/3,(2 1)/3 q=(1 1)/2";
  for (const char* source : {"target_at_default_temperature", "filter_reaches_bonus_only", "bonus_forgets_drafts",
                             "penalty_counts_last_token_twice", "target_argmax_fallback"})
    EXPECT_EQ(examine_one(source, "rows_by_prefix", plain)->status, Status::passed) << source;
}

TEST(Targets, TypicalPKeepsWhatIsAsSurprisingAsTheMean) {
  // The entropy of (8 4 1 1)/14 is 1.09, and the values -log p are .56, 1.25, 2.64, 2.64. Token 1 is nearest to the
  // entropy, then token 0. Token 1 has 4/14 of the mass and both have 12/14, so 60 % keeps both and 20 % only token 1.
  const auto row = [](const char* text) {
    const TargetCase one = TargetCase::parse(text);
    const Token none = 0;
    return components::target::RequestRows{}.row<Rational>(one.request, &none, 0);
  };
  EXPECT_EQ(row("w=(8 4 1 1)/14 q=(1 1 1 1)/4 typical_p=20"), (std::vector<Rational>{0, 1, 0, 0}));
  EXPECT_EQ(row("w=(8 4 1 1)/14 q=(1 1 1 1)/4 typical_p=60"),
            (std::vector<Rational>{Rational(2, 3), Rational(1, 3), 0, 0}));
}

TEST(Targets, TemperatureZeroIsOneToken) {
  const TargetCase one = TargetCase::parse("w=(3 3 1)/7,(1 2 2)/5 q=(1 1 1)/3 cold=0");
  const Token none = 0;
  const components::target::RequestRows rows;
  EXPECT_EQ(rows.row<Rational>(one.request, &none, 0), (std::vector<Rational>{1, 0, 0}));
  EXPECT_EQ(rows.row<Rational>(one.request, &none, 1), (std::vector<Rational>{0, 1, 0}));
  EXPECT_EQ(examine_one("request_rows", "completed_distribution", one.text())->status, Status::passed);
}

TEST(Targets, TokensThatAreNeverDrafted) {
  EXPECT_EQ(
      examine_one("request_rows", "completed_distribution", "w=(1 2 3)/6,(3 2 1)/6,(1 1 1)/3 q=(0 1 1)/2")->status,
      Status::passed);
}

TEST(Targets, RowsByHand) {
  // After text 0 and draft 1 the penalty gives the weights 4/2, 6/2 and 5; their squares are (4 9 25), and min-p 1/4
  // keeps the weights of at least 25/4.
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
