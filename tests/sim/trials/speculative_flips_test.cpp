// A trial decided speculatively reads its own uniforms and no others: compared with the source that takes them one by
// one.
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/sim/trials/speculative_flips.hpp>

namespace draftproof::speculative_flips_test {
namespace {

constexpr std::uint64_t seed = 3;
constexpr int trials = PhiloxBatch::most, coins = 6;
constexpr double chances[coins] = {0.5, 0.25, 0.75, 0.5, 1, 0.1};

/// The uniforms of each trial in order, and the word of its last draw.
struct Fallen {
  bool won[coins];
  int known_rejections = 0;  ///< before the first success
};
Fallen fallen(std::uint64_t trial) {
  Philox alone(seed, trial, Philox::Role::verify);
  Fallen coin{};
  for (int n = 0; n < coins; ++n) coin.won[n] = alone.flip(chances[n], 1.0);
  while (coin.known_rejections < coins && !coin.won[coin.known_rejections]) ++coin.known_rejections;
  return coin;
}

TEST(SpeculativeFlips, ShowTheFirstCoinAsWonAndSayWhetherItIs) {
  PhiloxBatch words(seed, std::uint64_t{0}, trials, Philox::Role::verify);
  DeferredEmits deferred(nullptr);
  int wrong = 0;
  for (int t = 0; t < trials; ++t) {
    const Fallen coin = fallen(static_cast<std::uint64_t>(t));
    SpeculativeFlips<true> random(words, t, t, deferred, 0);
    EXPECT_FALSE(random.mispredicted());
    EXPECT_TRUE(random.flip(chances[0], 1.0));
    EXPECT_EQ(random.mispredicted(), !coin.won[0]) << "trial " << t;
    for (int n = 1; n < coins; ++n) EXPECT_EQ(random.flip(chances[n], 1.0), coin.won[n]) << "trial " << t;
    EXPECT_EQ(random.mispredicted(), !coin.won[0]) << "a later coin was taken for the guess in trial " << t;
    wrong += random.mispredicted();
  }
  EXPECT_GT(wrong, 0);
  EXPECT_LT(wrong, trials);
}

TEST(SpeculativeFlips, AreAsTheyFallAfterThoseKnownToBeLost) {
  PhiloxBatch words(seed, std::uint64_t{0}, trials, Philox::Role::verify);
  DeferredEmits deferred(nullptr);
  int several = 0;
  for (int t = 0; t < trials; ++t) {
    const Fallen coin = fallen(static_cast<std::uint64_t>(t));
    for (int known = 0; known <= coin.known_rejections; ++known) {
      SpeculativeFlips<false> random(words, t, t, deferred, known);
      EXPECT_EQ(random.known_rejections(), known);
      for (int n = 0; n < coins; ++n) EXPECT_EQ(random.flip(chances[n], 1.0), coin.won[n]) << "trial " << t;
      EXPECT_EQ(random.known_rejections(), coin.known_rejections) << "trial " << t << ", known " << known;
      EXPECT_FALSE(random.mispredicted());
    }
    several += coin.known_rejections > 1;
  }
  EXPECT_GT(several, 0);
}

TEST(SpeculativeFlips, ADrawOfAWrongGuessIsForgotten) {
  const RatioTable table(std::vector<double>{0.25, 0.5, 0.25}, std::vector<double>{0.5, 0.25, 0.25});
  Verdict verdicts[2];
  DeferredEmits deferred(verdicts);
  PhiloxBatch words(seed, std::uint64_t{0}, trials, Philox::Role::verify);
  DeferredEmitSource first(words, 0, 0, deferred), second(words, 1, 1, deferred);
  const auto emitted = [&](DeferredEmitSource& source) { return source.emit(table.residual(0.5)); };
  verdicts[0] = emitted(first);
  verdicts[1] = emitted(second);
  deferred.keep(1);
  deferred.flush(nullptr, nullptr, 1);
  EXPECT_GE(verdicts[0].token, 0);
  EXPECT_EQ(verdicts[1].token, every_token);
}

}  // namespace
}  // namespace draftproof::speculative_flips_test
