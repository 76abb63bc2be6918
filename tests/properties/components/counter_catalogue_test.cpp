// Tests that wrong counters of trials fail at the first number of doublings that reveals them, and pass with one
// doubling less.
#include <gtest/gtest.h>

#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/components/counter/counter_group.hpp>
#include <draftproof/sim/tally.hpp>

namespace draftproof {
namespace {

/// Expects that the counter fails with `evidence` after `doublings` doublings of the counts, that it passes with one
/// doubling fewer, and that the correct counters pass at both numbers of doublings.
void expect_from(std::string_view counter, std::string_view check, int doublings, std::string_view evidence) {
  const auto ask = [&](std::string_view name, int count) {
    return *examine_one(name, check, CounterCase{.weights = {1}, .doublings = count}.text());
  };
  for (const int count : {doublings - 1, doublings})
    for (const std::string_view right : {"framework_tally", "flushed_cells"})
      EXPECT_EQ(ask(right, count).status, Status::passed) << right << ": " << ask(right, count).evidence;
  EXPECT_EQ(ask(counter, doublings - 1).status, Status::passed) << ask(counter, doublings - 1).evidence;
  EXPECT_EQ(ask(counter, doublings).status, Status::failed) << counter;
  EXPECT_NE(ask(counter, doublings).evidence.find(evidence), std::string::npos) << ask(counter, doublings).evidence;
}

TEST(WrongCounters, FailConservationWhereTheyOverflow) {
  expect_from("cells_of_16_bits", "conservation", 16, "the cells sum to 65535, of 131071 trials");
  expect_from("cells_of_floats", "conservation", 24, "of 33554431 trials");
  expect_from("trials_of_32_bits", "conservation", 32, "the cells sum to 8589934591, of 4294967295 trials");
}

TEST(WrongCounters, FailConservationWhereTheyAreFlushedTooLate) {
  const auto ask = [](std::string_view counter, std::string_view text) {
    return examine_one(counter, "conservation", text).value();
  };
  // A run of 65,534 trials and the trial before the run, 65,535 in all, fit into a cell of 16 bits. Doubling the counts
  // by merges does not reveal the bug.
  EXPECT_EQ(ask("flushed_too_late", "counts=(1)/1 doublings=0 run=65534").status, Status::passed);
  EXPECT_EQ(ask("flushed_too_late", "counts=(1)/1 doublings=40").status, Status::passed);
  EXPECT_NE(ask("flushed_too_late", "counts=(1)/1 doublings=0 run=65535")
                .evidence.find("one by one the cells sum to 0, of 65536"),
            std::string::npos);
  EXPECT_NE(ask("flushed_too_late", "counts=(1)/1 doublings=0 run=8589934592").evidence.find("as a block the cells"),
            std::string::npos);
  for (const std::string_view right : {"framework_tally", "flushed_cells"})
    for (const std::string_view text :
         {"counts=(1)/1 doublings=0 run=65535", "counts=(2 1)/3 doublings=8 run=8589934592"})
      EXPECT_EQ(ask(right, text).status, Status::passed) << right << ", " << text;
}

/// A counter that cannot count several equal trials in one call.
struct TrialsAlone : CounterSteps {
  static constexpr ComponentInfo info{.name = "trials_alone", .summary = "", .source = ""};
  struct Counts : private StepCounts<TrialsAlone> {
    using Base = StepCounts<TrialsAlone>;
    using Base::Base, Base::trials, Base::accepted, Base::cell;
    void add(Verdict verdict) { Base::add(verdict); }
    void merge(const Counts& other) { Base::merge(other); }
  };
};

TEST(Counters, RunsThatCannotBeCountedAreUndecided) {
  component_registry();  // registers the checks
  const ComponentOf<CounterGroup> counter(trial_counter<TrialsAlone>(), Kind::verifier);
  EXPECT_EQ(counter.examine_one("conservation", "counts=(1)/1 doublings=1 run=65536")->status, Status::passed);
  const auto finding = *counter.examine_one("conservation", "counts=(1)/1 doublings=1 run=4294967296");
  EXPECT_EQ(finding.status, Status::undecided);
  EXPECT_EQ(finding.evidence, "a run of 4294967296 trials needs add(verdict, times)");
}

/// A counter that becomes wrong after `right` reads of cells in this process: from then on every cell reports one trial
/// too many.
template <int right>
struct WrongLater : CounterSteps {
  static constexpr ComponentInfo info{.name = "wrong_later", .summary = "", .source = ""};
  struct Counts : StepCounts<CounterSteps> {
    using StepCounts<CounterSteps>::StepCounts;
    std::uint64_t cell(Token x) const {
      static int reads = 0;
      return StepCounts<CounterSteps>::cell(x) + (++reads > right ? 1 : 0);
    }
  };
};

template <int right>
void expect_replay(const std::string& replay, const std::string& evidence) {
  const ComponentOf<CounterGroup> counter(trial_counter<WrongLater<right>>(), Kind::mutant);
  for (const char* const gate : {"first", "second"})  // `reads` is not reset for the second run.
    for (const Finding& finding : counter.examine({.seed = 3})) {
      if (finding.property != "conservation") continue;
      EXPECT_EQ(finding.status, Status::failed) << gate;
      EXPECT_EQ(finding.replay.substr(0, replay.size()), replay) << gate;
      EXPECT_NE(finding.evidence.find(evidence), std::string::npos) << gate << ": " << finding.evidence;
      EXPECT_EQ(finding.evidence.find("depends on earlier calls") == std::string::npos, right == 0) << gate;
    }
}

TEST(Counters, WhatDependsOnEarlierCallsIsNotReplayedAlone) {
  component_registry();  // registers the checks
  expect_replay<0>(
      "draftproof replay counter/wrong_later --property conservation --instance 'counts=(1)/1 doublings=0'",
      "the cells sum to 2, of 1 trials");
  expect_replay<2000>("draftproof check counter/wrong_later --seed 3", "it depends on earlier calls: case ");
}

TEST(CounterCases, TextIsReadBack) {
  for (const CounterCase& one : CounterGroup::cases(7, 1)) {
    ASSERT_TRUE(one.valid()) << one.text();
    EXPECT_EQ(CounterCase::parse(one.text()), one);
  }
  for (const char* text : {"counts=(1)/1 doublings=41", "counts=(1)/1 doublings=9 run=1",
                           "counts=(1)/1 doublings=0 run=-1", "counts=(1)/1 doublings=0 run=34359738369"})
    EXPECT_THROW(CounterCase::parse(text), std::invalid_argument) << text;
}

TEST(WrongCounters, RepeatTheirWords) {
  expect_from("words_repeat_after_32_bits", "trials_have_own_words", 32,
              "the trials 2^32 later have the same random bits");
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
  ++lost.draft_accepted;
  EXPECT_NE(lost.discrepancy(), "");
  lost = tally;
  lost.trials = 3;
  EXPECT_NE(lost.discrepancy(), "");
}

}  // namespace
}  // namespace draftproof
