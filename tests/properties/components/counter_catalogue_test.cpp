// Wrong counters of trials at the first number of doublings that shows them, and one before it.
#include <gtest/gtest.h>

#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/components/counter/counter_group.hpp>
#include <draftproof/sim/tally.hpp>

namespace draftproof {
namespace {

/// Held after one doubling less, violated with this evidence after `doublings`; right counters hold at both.
void expect_from(std::string_view counter, std::string_view check, int doublings, std::string_view evidence) {
  const auto ask = [&](std::string_view name, int count) {
    return *examine_one(name, check, CounterCase{.weights = {1}, .doublings = count}.text());
  };
  for (const int count : {doublings - 1, doublings})
    for (const std::string_view right : {"framework_tally", "flushed_cells"})
      EXPECT_EQ(ask(right, count).status, Status::held) << right << ": " << ask(right, count).evidence;
  EXPECT_EQ(ask(counter, doublings - 1).status, Status::held) << ask(counter, doublings - 1).evidence;
  EXPECT_EQ(ask(counter, doublings).status, Status::violated) << counter;
  EXPECT_NE(ask(counter, doublings).evidence.find(evidence), std::string::npos) << ask(counter, doublings).evidence;
}

TEST(WrongCounters, FailConservationWhereTheyOverflow) {
  expect_from("cells_of_16_bits", "conservation", 16, "the cells sum to 65535, of 131071 trials");
  expect_from("cells_of_floats", "conservation", 24, "of 33554431 trials");
  expect_from("trials_of_32_bits", "conservation", 32, "the cells sum to 8589934591, of 4294967295 trials");
}

TEST(WrongCounters, RepeatTheirWords) {
  expect_from("words_repeat_after_32_bits", "trials_have_own_words", 32, "those 2^32 further have the same words");
}

TEST(Tally, SaysWhatDoesNotAddUp) {
  Tally tally;
  tally.histogram.resize(2);
  const Token drafts[] = {1};
  for (int n = 0; n < 3; ++n) tally.add(accepted(1, 0), drafts, 1);
  tally.add({0, none_accepted}, drafts, 1);
  tally.add(Verdict{}, drafts, 1);
  EXPECT_EQ(tally.discrepancy(), "");
  Tally lost = tally;
  --lost.histogram[1];
  EXPECT_EQ(lost.discrepancy(), "tokens of 3 of 5 trials");
  lost = tally;
  ++lost.flagged;
  EXPECT_NE(lost.discrepancy(), "");
  lost = tally;
  lost.trials = 3;
  EXPECT_NE(lost.discrepancy(), "");
}

}  // namespace
}  // namespace draftproof
