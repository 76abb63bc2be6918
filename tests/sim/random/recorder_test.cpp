// Tapes return scripted words in order and report their end; a recorder's log replays to the same verdict.
#include <stdexcept>

#include <gtest/gtest.h>

#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/random/tape.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>

namespace draftproof::recorder_test {
namespace {

const Rows<double> laws({0.1, 0.2, 0.3, 0.4}, std::vector<double>{0.4, 0.3, 0.2, 0.1});
constexpr Token drafts[] = {0, 1, 0};

TEST(Tape, WordHasTheUnitIntervalValueItIsNamedBy) {
  for (const double u : {0.0, 0.25, 0.5, 0.75 + 0x1p-53, 1 - 0x1p-53}) EXPECT_EQ(unit_interval(Tape::word(u)), u);
  const double between = 0x1p-53 * 1.5;  // off the grid: down
  EXPECT_EQ(unit_interval(Tape::word(between)), 0x1p-53);
}

TEST(Tape, RunsOutWithAMessage) {
  Tape tape({0});
  EXPECT_TRUE(tape.flip(1.0, 2.0));
  EXPECT_THROW(tape.flip(1.0, 2.0), std::out_of_range);
}

TEST(Recorder, LogsEveryDrawWithItsPurposeAndOutcome) {
  const std::uint64_t half = Tape::word(0.5), late = Tape::word(0.999);
  Recorder random(Tape({half, late, half, half}));
  // First draft: p = .1 against q = .4, refused at u = 1/2. Second: (.2 - .3)+ is 0, refused. Third: 0 again.
  const Verdict verdict = verifiers::RecursiveRejection{}.verify(DraftedPosition(laws, drafts, 3), random);
  const auto& draws = random.draws();
  ASSERT_EQ(draws.size(), 4u);
  for (int n = 0; n < 3; ++n) {
    EXPECT_EQ(draws[static_cast<std::size_t>(n)].purpose, Purpose::flip);
    EXPECT_EQ(draws[static_cast<std::size_t>(n)].value, 0) << "refused";
  }
  EXPECT_EQ(draws[0].word, half);
  EXPECT_EQ(draws[0].num, 0.1);
  EXPECT_EQ(draws[0].den, 0.4);
  EXPECT_EQ(draws[1].word, late);
  EXPECT_EQ(draws[3].purpose, Purpose::emit);
  EXPECT_EQ(draws[3].value, verdict.token);
  EXPECT_EQ(verdict.accepted, none_accepted);
}

TEST(Recorder, ReplaysOnATape) {
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    Recorder recorder(Philox(4, trial, Philox::Role::verify));
    const Verdict first = verifiers::RecursiveRejection{}.verify(DraftedPosition(laws, drafts, 3), recorder);
    std::vector<std::uint64_t> words;
    for (const Draw& draw : recorder.draws()) words.push_back(draw.word);
    Tape tape(words);
    const Verdict again = verifiers::RecursiveRejection{}.verify(DraftedPosition(laws, drafts, 3), tape);
    EXPECT_EQ(again.token, first.token);
    EXPECT_EQ(again.accepted, first.accepted);
    EXPECT_EQ(tape.played(), words.size()) << "the recorder missed a draw";
  }
}

TEST(Recorder, DoesNotChangeWhatItRecords) {
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    Philox bare(4, trial, Philox::Role::verify);
    Recorder recorded(Philox(4, trial, Philox::Role::verify));
    EXPECT_EQ(bare.flip(0.3, 1.0), recorded.flip(0.3, 1.0));
    EXPECT_EQ(bare.pick(laws.row(0)), recorded.pick(laws.row(0)));
    EXPECT_EQ(bare.emit(laws.row(0)).token, recorded.emit(laws.row(0)).token);
  }
}

}  // namespace
}  // namespace draftproof::recorder_test
