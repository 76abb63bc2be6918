// A trial decided on a guess sees its own coins and no others: held to the source that takes them one by one.
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/sim/trials/speculative_flips.hpp>

namespace draftproof {
namespace {

constexpr std::uint64_t seed = 3;
constexpr int trials = PhiloxBatch::most, coins = 6;
constexpr double chances[coins] = {0.5, 0.25, 0.75, 0.5, 1, 0.1};

/// Coins of each trial as they fall, and the word of its last draw.
struct Fallen {
  bool won[coins];
  int lost = 0;  ///< before the first that is won
};
Fallen fallen(std::uint64_t trial) {
  Philox alone(seed, trial, Philox::Role::verify);
  Fallen coin{};
  for (int n = 0; n < coins; ++n) coin.won[n] = alone.flip(chances[n], 1.0);
  while (coin.lost < coins && !coin.won[coin.lost]) ++coin.lost;
  return coin;
}

TEST(GuessedFlips, ShowTheFirstCoinAsWonAndSayWhetherItIs) {
  PhiloxBatch words(seed, std::uint64_t{0}, trials, Philox::Role::verify);
  DeferredDraws deferred(nullptr);
  int wrong = 0;
  for (int t = 0; t < trials; ++t) {
    const Fallen coin = fallen(static_cast<std::uint64_t>(t));
    GuessedFlips<true> random(words, t, t, deferred, 0);
    EXPECT_FALSE(random.wrong());
    EXPECT_TRUE(random.flip(chances[0], 1.0));
    EXPECT_EQ(random.wrong(), !coin.won[0]) << "trial " << t;
    for (int n = 1; n < coins; ++n) EXPECT_EQ(random.flip(chances[n], 1.0), coin.won[n]) << "trial " << t;
    EXPECT_EQ(random.wrong(), !coin.won[0]) << "a later coin was taken for the guess in trial " << t;
    wrong += random.wrong();
  }
  EXPECT_GT(wrong, 0);
  EXPECT_LT(wrong, trials);
}

TEST(GuessedFlips, AreAsTheyFallAfterThoseKnownToBeLost) {
  PhiloxBatch words(seed, std::uint64_t{0}, trials, Philox::Role::verify);
  DeferredDraws deferred(nullptr);
  int several = 0;
  for (int t = 0; t < trials; ++t) {
    const Fallen coin = fallen(static_cast<std::uint64_t>(t));
    for (int known = 0; known <= coin.lost; ++known) {
      GuessedFlips<false> random(words, t, t, deferred, known);
      EXPECT_EQ(random.lost(), known);
      for (int n = 0; n < coins; ++n) EXPECT_EQ(random.flip(chances[n], 1.0), coin.won[n]) << "trial " << t;
      EXPECT_EQ(random.lost(), coin.lost) << "trial " << t << ", known " << known;
      EXPECT_FALSE(random.wrong());
    }
    several += coin.lost > 1;
  }
  EXPECT_GT(several, 0);
}

TEST(GuessedFlips, ADrawOfAWrongGuessIsForgotten) {
  const RatioTable table(std::vector<double>{0.25, 0.5, 0.25}, std::vector<double>{0.5, 0.25, 0.25});
  Verdict verdicts[2];
  DeferredDraws deferred(verdicts);
  PhiloxBatch words(seed, std::uint64_t{0}, trials, Philox::Role::verify);
  DeferringSource first(words, 0, 0, deferred), second(words, 1, 1, deferred);
  const auto emitted = [&](DeferringSource& source) { return source.emit(table.residual(0.5)); };
  verdicts[0] = emitted(first);
  verdicts[1] = emitted(second);
  deferred.keep(1);
  deferred.settle(nullptr, nullptr, 1);
  EXPECT_GE(verdicts[0].token, 0);
  EXPECT_EQ(verdicts[1].token, every_token);
}

}  // namespace
}  // namespace draftproof
