// Programs at random, with coins that are read again later, idle coins, and draws whose number and meaning depend on
// earlier ones. Each law is compared with that of all tapes on a coarse grid.
#include <draftproof/doors/explorer/explore.hpp>
#include <draftproof/tests/support/doors_in_process.hpp>

namespace draftproof::doors {
namespace {

/// A fixed random function of two numbers.
std::uint64_t word(std::uint64_t seed, std::uint64_t state) {
  std::uint64_t x = (seed + 17) * 0x9FB21C651E98DF25u + (state + 3) * 0xA24BAED4963EE407u;
  for (int round = 0; round < 3; ++round) x = (x ^ (x >> 29)) * 0xD6E8FEB86659FD93u;
  return x ^ (x >> 32);
}

/// A program of at most `places` coins: states with one to three thresholds each, some of which forget the coin.
InProcess::Body random_program(std::uint64_t seed, int places, int cells) {
  return [=](const Input&, TapeDraws& draws) {
    std::uint64_t state = 1;
    int first = 0;
    for (int i = 0; i < places; ++i) {
      const int u = static_cast<int>(draws.coin() * cells);
      if (i == 0) first = u;
      std::uint64_t interval = 0;
      for (std::uint64_t t = 0; t < word(seed, 8 * state) % 4; ++t)
        interval += u < static_cast<int>(word(seed, 8 * state + 1 + t) % static_cast<std::uint64_t>(cells)) ? 1 : 0;
      const bool rereads = word(seed, 8 * state + 5) % 5 == 0;
      if (rereads && first < static_cast<int>(word(seed, 8 * state + 6) % static_cast<std::uint64_t>(cells)))
        interval += 4;
      state = state * 8 + interval;
      if (word(seed, 8 * state + 7) % 4 == 0) break;
    }
    return std::vector<Token>{static_cast<Token>(word(seed, 8 * state + 4) % 6)};
  };
}

TEST(ExploreRandomPrograms, HaveTheLawOfAllTapes) {
  const Input input{.p = {{1}}, .q = {}, .drafts = {}};
  constexpr int programs = 150, places = 3, bits = 5;
  int exact = 0;
  for (int seed = 0; seed < programs; ++seed) {
    const auto body = random_program(static_cast<std::uint64_t>(seed), places, 1 << bits);
    InProcess explored(body, bits), enumerated(body, bits);
    const ProgramLaw law = law_of(explored, input, {.coin_bits = bits});
    EXPECT_EQ(law.state, LawState::settled) << "program " << seed;
    double distance = 0, total = 0;
    for (const OutcomeMass& want : law_by_all_tapes(enumerated, input, places, bits))
      distance += std::abs(want.probability - law.of(want.outcome.tokens)) / 2;
    for (const OutcomeMass& found : law.outcomes) total += found.probability;
    EXPECT_EQ(total, 1) << "program " << seed;
    exact += distance == 0 ? 1 : 0;
    // A tree that is wrong on a mass m passes 128 random predictions with probability (1 - m)^128: 1e-7 for 0.12, and
    // the total variation is at most m.
    EXPECT_LT(distance, .12) << "program " << seed;
  }
  EXPECT_GE(exact, programs * 97 / 100);
}

}  // namespace
}  // namespace draftproof::doors
