// Tests random streams that share a number on purpose: DrawCount finds the shared number for every ordered pair of
// streams, and finds nothing without aliases.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/properties/scripted/scripted_decision.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/distributions/ratio_bins.hpp>

namespace draftproof {
namespace {

/// The address of a random number in a batch of decisions.
struct Stream {
  std::string_view name;
  std::uint64_t trial;
  std::uint64_t row;  ///< row of the batch; also the seed in this test
  Philox::Role role;
  Purpose purpose;
  std::uint32_t index;
};

constexpr auto drafting = Philox::Role::draft, verifying = Philox::Role::verify;
const std::vector<Stream> streams{{"draft", 5, 0, drafting, Purpose::pick, 0},
                                  {"flip 0", 5, 0, verifying, Purpose::flip, 0},
                                  {"flip 1", 5, 0, verifying, Purpose::flip, 1},
                                  {"flip 2", 5, 0, verifying, Purpose::flip, 2},
                                  {"pick", 5, 0, verifying, Purpose::pick, 0},
                                  {"emit", 5, 0, verifying, Purpose::emit, 0},
                                  {"bonus", 5, 0, verifying, Purpose::bonus, 0},
                                  {"flip of the trial before", 4, 0, verifying, Purpose::flip, 0},
                                  {"emit of the trial before", 4, 0, verifying, Purpose::emit, 0},
                                  {"draft of the trial before", 4, 0, drafting, Purpose::pick, 0},
                                  {"flip of the row beside", 5, 1, verifying, Purpose::flip, 0},
                                  {"emit of the row beside", 5, 1, verifying, Purpose::emit, 0},
                                  {"draft of the row beside", 5, 1, drafting, Purpose::pick, 0}};

std::uint64_t word_of(const Stream& stream) {
  Philox source(stream.row, stream.trial, stream.role);
  for (std::uint32_t n = 0; n < stream.index; ++n) source.next(stream.purpose);
  return source.next(stream.purpose);
}

/// The random numbers of one role in one trial of one row. The number at `alias` is replaced by the number at `origin`.
class AliasedWords final : public AddressedWords {
 public:
  AliasedWords(std::uint64_t row, std::uint64_t trial, Philox::Role role, const Stream* origin, const Stream* alias)
      : own_(row, trial, role), row_{row}, trial_{trial}, role_{role}, origin_{origin}, alias_{alias} {}

 protected:
  std::uint64_t word_of(Purpose purpose, std::uint32_t index) override {
    const std::uint64_t word = own_.next(purpose);
    const bool aliased = alias_ && alias_->row == row_ && alias_->trial == trial_ && alias_->role == role_ &&
                         alias_->purpose == purpose && alias_->index == index;
    return aliased ? draftproof::word_of(*origin_) : word;
  }

 private:
  Philox own_;
  std::uint64_t row_, trial_;
  Philox::Role role_;
  const Stream *origin_, *alias_;
};

/// Returns the conflict that DrawCount finds in two rows of two trials, each with a draft, three coins, a pick, a last
/// draw and a bonus.
std::optional<std::string> conflict_with(const Stream* origin, const Stream* alias) {
  const Rows<double> distributions({0.5, 0.25, 0.25}, std::vector<double>{0.25, 0.5, 0.25});
  DrawCount count;
  for (const std::uint64_t row : {0u, 1u})
    for (const std::uint64_t trial : {4u, 5u}) {
      AliasedWords draft(row, trial, drafting, origin, alias), verify(row, trial, verifying, origin, alias);
      Scripted drawing{WordsFrom(draft)}, deciding{WordsFrom(verify)};
      drawing.pick(distributions.row(0));
      for (int k = 0; k < 3; ++k) deciding.flip(0.25, 0.5);
      deciding.pick(distributions.row(0));
      deciding.emit(distributions.residual(1));
      deciding.next(Purpose::bonus);
      const std::string name = "row " + std::to_string(row);
      count.enter(name + " draft", trial, draft);
      count.enter(name + " verify", trial, verify);
    }
  EXPECT_EQ(count.words(), alias ? 27u : 28u);
  return count.conflict();
}

TEST(DrawCount, FindsEveryOrderedPairOfAliasedStreams) {
  EXPECT_FALSE(conflict_with(nullptr, nullptr));
  for (const Stream& origin : streams)
    for (const Stream& alias : streams) {
      if (&origin == &alias) continue;
      const auto conflict = conflict_with(&origin, &alias);
      ASSERT_TRUE(conflict) << alias.name << " has the word of " << origin.name;
      for (const Stream* one : {&origin, &alias}) {
        const std::string who = "row " + std::to_string(one->row) + (one->role == drafting ? " draft " : " verify ") +
                                std::string(to_text(one->purpose)) + ", trial " + std::to_string(one->trial) +
                                ", draw " + std::to_string(one->index);
        EXPECT_NE(conflict->find(who), std::string::npos) << *conflict << " does not name " << who;
      }
    }
}

TEST(DrawCount, TakesAWordThatIsEnteredTwiceUnderOneName) {
  TrialWords words(1, 0, Philox::Role::verify);
  words.next(Purpose::flip);
  DrawCount count;
  count.enter("verify", 0, words);
  count.enter("verify", 0, words);
  EXPECT_FALSE(count.conflict());
  count.enter("verify", 1, words);
  EXPECT_TRUE(count.conflict());
}

TEST(TrialWords, AreTheWordsOfTheTrial) {
  TrialWords words(3, 7, Philox::Role::verify);
  Philox trial(3, 7, Philox::Role::verify);
  for (int n = 0; n < 20; ++n) {
    const auto purpose = n % 3 ? Purpose::flip : Purpose::emit;
    EXPECT_EQ(words.next(purpose), trial.next(purpose));
  }
  EXPECT_EQ(words.noise(2, 5).first, trial.noise(2, 5).first);
  EXPECT_EQ(words.addressed().size(), 20u);
  EXPECT_EQ(words.noise_blocks(), 1u);
}

TEST(TrialWords, ChangeWhereTheyAreTold) {
  TrialWords plain(3, 7, Philox::Role::verify), changed(3, 7, Philox::Role::verify);
  changed.replace(Purpose::flip, 1, 42);
  changed.change_after(3, 8);
  for (int n = 0; n < 6; ++n) {
    const std::uint64_t was = plain.next(Purpose::flip), is = changed.next(Purpose::flip);
    if (n == 1)
      EXPECT_EQ(is, 42u);
    else
      EXPECT_EQ(is == was, n < 3) << n;
  }
}

}  // namespace
}  // namespace draftproof
