// The explorer on picks, races, integers, and coins of other grids.
#include <draftproof/adapters/explorer/explore.hpp>
#include <draftproof/tests/support/adapters_in_process.hpp>

namespace draftproof::adapters {
namespace {

const Input drawing_input{.p = {{.5, .3, .2}, {.25, .25, .5}}, .q = {{.7, .2, .1}}, .drafts = {0}};

/// Returns the argmax of w / clock, or of log w - log clock.
Token winner(const std::vector<double>& weights, const std::vector<double>& clocks, bool gumbel) {
  std::size_t best = 0;
  const auto score = [&](std::size_t x) {
    return gumbel ? std::log(weights[x]) - std::log(clocks[x]) : weights[x] / clocks[x];
  };
  for (std::size_t x = 1; x < weights.size(); ++x)
    if (score(x) > score(best)) best = x;
  return static_cast<Token>(best);
}

TEST(ExploreDraws, PicksHaveTheirWeights) {
  using Masses = std::vector<std::pair<std::vector<Token>, double>>;
  const auto expect = [](const InProcess::Body& body, const Masses& masses, double no_mass = 0) {
    InProcess program(body);
    const ProgramDistribution distribution = distribution_of(program, drawing_input);
    EXPECT_EQ(distribution.state, DistributionState::settled);
    for (const auto& [tokens, mass] : masses) EXPECT_EQ(distribution.of(tokens), mass);
    EXPECT_EQ(distribution.of(RowStatus::no_mass), no_mass);
    return distribution.outcomes.size();
  };
  const auto some = [](const Input& in, TapeDraws& draws) {
    if (draws.coin() < .625) return std::vector<Token>{0, draws.pick(in.p[1])};
    return std::vector<Token>{draws.pick({0, 3, 1})};  // not normalised
  };
  EXPECT_EQ(expect(some, {{{0, 0}, .625 * .25}, {{0, 2}, .625 * .5}, {{1}, .375 * .75}, {{2}, .375 * .25}}), 5u);
  // For both halves of the coin's range a pick of three cells follows; only the weights differ.
  const auto coin_weighs = [](const Input&, TapeDraws& draws) {
    const bool low = draws.coin() < .5;
    return std::vector<Token>{draws.pick(low ? Weights{1, 1, 2} : Weights{2, 1, 1})};
  };
  expect(coin_weighs, {{{0}, .375}, {{1}, .25}, {{2}, .375}});
  // A cell may weigh less than a step of the coins' grid. The tape value that selects this last cell must still be
  // below 1 (adapters_in_process.hpp).
  const auto small = [](const Input&, TapeDraws& draws) {
    const Token first = draws.pick({1, 0x1p-55});
    return std::vector<Token>{first, draws.pick({1, 1})};
  };
  expect(small, {{{1, 0}, 0x1p-56}});
  for (const double weight : {0.0, static_cast<double>(NAN)}) {  // a pick from weights without mass is an outcome
    const auto nothing = [weight](const Input& in, TapeDraws& draws) {
      return std::vector<Token>{draws.pick(draws.coin() < .75 ? in.p[0] : Weights{weight, 0})};
    };
    expect(nothing, {{{1}, .75 * .3}}, .25);
  }
}

TEST(ExploreDraws, PredictionsCompareWeights) {
  // For coins in a short interval, the weights of a pick change by 2^-20. A comparison of outcomes would not show this
  // change.
  InProcess program([](const Input&, TapeDraws& draws) {
    const double u = draws.coin();
    return std::vector<Token>{draws.pick({1, u >= .3141 && u < .3141 + 0x1p-5 ? 1 + 0x1p-20 : 1})};
  });
  const ProgramDistribution distribution =
      distribution_of(program, {.p = {{1}}, .q = {}, .drafts = {}}, {.keep_stretches = true});
  EXPECT_EQ(distribution.state, DistributionState::settled);
  EXPECT_EQ(distribution.stretches.size(), 3u);
  EXPECT_GT(distribution.of({1}), distribution.of({0}));
}

TEST(ExploreDraws, EarlyPicksThatSeldomMatter) {
  InProcess program([](const Input& in, TapeDraws& draws) {
    const Token bonus = draws.pick(in.p[0]), other = draws.pick(in.p[1]);
    if (draws.coin() < .875) return std::vector<Token>{bonus};
    return std::vector<Token>{draws.coin() < .0625 ? other : 7};
  });
  const ProgramDistribution distribution = distribution_of(program, drawing_input);
  EXPECT_EQ(distribution.state, DistributionState::settled);
  const double reached = .125 * .0625;
  EXPECT_NEAR(distribution.of({0}), .875 * .5 + reached * .25, 1e-15);
  EXPECT_NEAR(distribution.of({2}), .875 * .2 + reached * .5, 1e-15);
  EXPECT_NEAR(distribution.of({7}), .125 * .9375, 1e-15);
}

TEST(ExploreDraws, RacesGiveTheirWeights) {
  for (const bool gumbel : {false, true}) {
    const std::vector<double> weights{.1, .15, .45, 1e-9, .3 - 1e-9, 0};
    InProcess program([&](const Input&, TapeDraws& draws) {
      const bool first = draws.coin() < .5;
      const Token x = winner(weights, draws.race(6), gumbel);
      return std::vector<Token>{first ? x : x / 2};  // pairs of entries behave alike
    });
    const ProgramDistribution distribution = distribution_of(program, drawing_input);
    EXPECT_EQ(distribution.state, DistributionState::settled);
    ASSERT_EQ(distribution.outcomes.size(), 5u);
    // The weights of a race are found with a relative error, which is included in distribution.limit.
    EXPECT_NEAR(distribution.of({0}), .5 * .1 + .5 * .25, distribution.limit);
    EXPECT_NEAR(distribution.of({1}), .5 * .15 + .5 * .45, distribution.limit);
    EXPECT_NEAR(distribution.of({2}), .5 * .45 + .5 * .3, distribution.limit);
    EXPECT_NEAR(distribution.of({3}) / .5e-9, 1, 1e-6);
    EXPECT_NEAR(distribution.of({4}), .5 * .3, distribution.limit);
    EXPECT_LT(distribution.limit, 2e-6);
  }
}

TEST(ExploreDraws, RaceOfFloatsStaysWithinItsLimit) {
  const Weights weights{1 / 3.0, 1 / 7.0, 11 / 21.0};
  InProcess program([&](const Input&, TapeDraws& draws) {
    Weights scores;
    for (const double clock : draws.race(3))
      scores.push_back(static_cast<float>(weights[scores.size()]) / static_cast<float>(clock));
    return std::vector<Token>{static_cast<Token>(std::max_element(scores.begin(), scores.end()) - scores.begin())};
  });
  const ProgramDistribution distribution = distribution_of(program, drawing_input);
  EXPECT_EQ(distribution.state, DistributionState::settled);
  for (Token x = 0; x < 3; ++x)
    EXPECT_NEAR(distribution.of({x}), weights[static_cast<std::size_t>(x)], distribution.limit);
}

TEST(ExploreDraws, RaceWhoseLateClocksAreClampedGivesItsWeights) {
  // The program clamps clocks to 37.4, like a program whose clocks are -log of a uniform of at least 2^-54. Then a
  // heavy entry with the latest clock still wins against the light entry with clock 1, because
  // .3996 / 37.4 > .0004 / 1.
  for (const std::vector<double>& weights :
       {std::vector<double>{.6, 0, .0004, .3996}, {0, .0004, .6, .3996}, {.0004, .9996}}) {
    const auto light = static_cast<Token>(std::find(weights.begin(), weights.end(), .0004) - weights.begin());
    InProcess program([&](const Input&, TapeDraws& draws) {
      std::vector<double> clocks = draws.race(static_cast<int>(weights.size()));
      for (double& clock : clocks) clock = std::min(clock, 37.4);
      return std::vector<Token>{winner(weights, clocks, false) == light ? 1 : 0};
    });
    const ProgramDistribution distribution = distribution_of(program, drawing_input);
    EXPECT_EQ(distribution.state, DistributionState::settled) << light;
    EXPECT_NEAR(distribution.of({1}) / .0004, 1, 1e-5) << light;
  }
}

TEST(ExploreDraws, RaceOfUniformsGivesTheWeightsInAnyOrder) {
  // The program rounds u = exp(-clock) down to multiples of 2^-24, at most 1 - 2^-24, and computes the clock -log u. A
  // clock above 16.6 becomes u = 0 and never wins. The program declares 16 bits for the clocks.
  std::vector<double> weights{1 / 10'000.0, 200 / 10'000.0, 9'799 / 10'000.0};
  do {
    for (const bool paired : {false, true}) {  // `paired`: entries 1 and 2 have the same outcome in half of the cases
      InProcess program([&](const Input&, TapeDraws& draws) {
        std::vector<double> clocks = draws.race(3, 16);
        for (double& clock : clocks)
          clock = -std::log(std::min(std::floor(std::exp(-clock) * 0x1p24) / 0x1p24, 1 - 0x1p-24));
        const Token won = winner(weights, clocks, false);
        return std::vector<Token>{paired && draws.coin() < .5 ? std::min(won, 1) : won};  // 1 and 2 behave alike
      });
      const ProgramDistribution distribution = distribution_of(program, drawing_input);
      EXPECT_EQ(distribution.state, DistributionState::settled);
      EXPECT_NEAR(distribution.of({0}), weights[0], 1e-6);
      EXPECT_NEAR(distribution.of({2}), weights[2] * (paired ? .5 : 1), 1e-6);
    }
  } while (std::next_permutation(weights.begin(), weights.end()));
}

TEST(ExploreDraws, RaceWhoseHeaviestEntryBehavesAsALightOne) {
  std::vector<double> weights{1 / 1'000.0, 2 / 1'000.0, 997 / 1'000.0};
  do {
    // Entries 0 and 1 have the same outcome; in some permutations one of them is the heaviest entry.
    InProcess program([&](const Input&, TapeDraws& draws) {
      std::vector<double> clocks = draws.race(3, 16);
      for (double& clock : clocks)
        clock = -std::log(std::min(std::floor(std::exp(-clock) * 0x1p24) / 0x1p24, 1 - 0x1p-24));
      return std::vector<Token>{winner(weights, clocks, false) == 2 ? 1 : 0};
    });
    const ProgramDistribution distribution = distribution_of(program, drawing_input);
    EXPECT_EQ(distribution.state, DistributionState::settled);
    EXPECT_NEAR(distribution.of({1}), weights[2], 1e-5);
  } while (std::next_permutation(weights.begin(), weights.end()));
}

TEST(ExploreDraws, RaceWithALightEntryHasASmallLimit) {
  // Entry 1 never wins, so its outcome is that of entry 0 when all clocks are late. The only entry with another outcome
  // is so light that entry 1 is paired with it at a clock of 2^-28.
  for (const auto& weights : {std::vector<double>{1, 0, 0x1p-28}, std::vector<double>{0, 1, 0x1p-28}}) {
    InProcess program([&](const Input&, TapeDraws& draws) {
      const std::vector<double> clocks = draws.race(3, 24);
      return std::vector<Token>{winner(weights, clocks, false) == 2 ? 1 : 0};
    });
    const ProgramDistribution distribution = distribution_of(program, drawing_input);
    EXPECT_EQ(distribution.state, DistributionState::settled);
    EXPECT_NEAR(distribution.of({1}), 0x1p-28, 0x1p-40);
    EXPECT_LT(distribution.limit, 0x1p-16) << "V and 16 roundings of 24 bits";
  }
}

TEST(ExploreDraws, RaceThatOneEntryWinsWhateverTheClocks) {
  // Scores are log w - log(-log u) of uniforms on a grid of 2^-24. If an entry of weight 0 has the early clock, all
  // scores are -inf, and the argmax is entry 0: another outcome than that of the only entry with weight.
  for (const bool split : {false, true}) {  // `split`: entries 1 and 2 have different outcomes if a later coin is low
    const Weights weights = split ? Weights{0, .25, .75, 0} : Weights{0, .1, 0};
    InProcess program([&](const Input&, TapeDraws& draws) {
      std::vector<double> clocks = draws.race(static_cast<int>(weights.size()), 16);
      for (double& clock : clocks)
        clock = -std::log(std::min(std::floor(std::exp(-clock) * 0x1p24) / 0x1p24, 1 - 0x1p-24));
      const Token won = winner(weights, clocks, true);
      return std::vector<Token>{split && won > 0 ? (draws.coin() < 0x1p-10 ? won : 3) : won};
    });
    const ProgramDistribution distribution = distribution_of(program, drawing_input);
    EXPECT_EQ(distribution.state, DistributionState::settled);
    EXPECT_EQ(distribution.of({0}), 0);
    EXPECT_NEAR(distribution.of({1}), split ? .25 * 0x1p-10 : 1, 1e-6);
    EXPECT_NEAR(distribution.of({2}), split ? .75 * 0x1p-10 : 0, 1e-6);
  }
}

TEST(ExploreDraws, RaceWhoseDrawsAnotherRowChangesIsUndecided) {
  // If a clock is exactly 1, as in calls that compare two entries, a third outcome appears near the tie; random clocks
  // hardly ever show it. So the ratio of clocks at which an entry stops winning is not the ratio of the weights.
  InProcess program([](const Input&, TapeDraws& draws) {
    const auto clocks = draws.race(2);
    const double ratio = clocks[1] / clocks[0] / 1.2345;
    return std::vector<Token>{clocks[0] == 1 && ratio > .995 && ratio < .999999 ? 2 : ratio < 1 ? 1 : 0};
  });
  const ProgramDistribution distribution = distribution_of(program, drawing_input);
  EXPECT_NE(distribution.state, DistributionState::settled);
}

TEST(ExploreDraws, RaceThatIsNotByClockOverWeightIsRefused) {
  InProcess program([](const Input&, TapeDraws& draws) {
    const auto clocks = draws.race(2);
    return std::vector<Token>{clocks[0] < clocks[1] * clocks[1] * 3 ? 0 : clocks[0] < 2 ? 1 : 2};
  });
  const ProgramDistribution distribution = distribution_of(program, drawing_input);
  EXPECT_NE(distribution.state, DistributionState::settled);
  // If the clock of entry 2 is below 1e-12, no entry wins and the outcome is 3. Random predictions would not show this
  // outcome.
  InProcess third([](const Input&, TapeDraws& draws) {
    const auto clocks = draws.race(3);
    if (clocks[2] < 1e-12) return std::vector<Token>{3};
    if (clocks[0] > 1e20 && clocks[1] > 1e20) return std::vector<Token>{2};
    return std::vector<Token>{clocks[0] < clocks[1] ? 0 : 1};
  });
  const ProgramDistribution cut = distribution_of(third, drawing_input);
  EXPECT_EQ(cut.state, DistributionState::cut);
  EXPECT_EQ(cut.unexplored, 1);
  ASSERT_EQ(cut.remarks.size(), 1u);
  EXPECT_EQ(cut.remarks[0], "a race is not won by the smallest clock divided by its weight");
}

TEST(ExploreDraws, Integers) {
  InProcess program([](const Input&, TapeDraws& draws) {
    const int few = draws.integer(5), many = draws.integer(1000);
    return std::vector<Token>{few == 3 ? 1 : 0, many < 377 ? 0 : few};
  });
  const ProgramDistribution distribution = distribution_of(program, drawing_input);
  EXPECT_EQ(distribution.state, DistributionState::settled);
  EXPECT_DOUBLE_EQ(distribution.of({1, 3}), .2 * .623);
  EXPECT_DOUBLE_EQ(distribution.of({1, 0}), .2 * .377);
  EXPECT_DOUBLE_EQ(distribution.of({0, 0}), .8 * .377 + .2 * .623);
  EXPECT_TRUE(distribution.edges.empty());
}

TEST(ExploreDraws, GridsOf53BitsAreExact) {
  const double third = 1 / 3.0;
  InProcess program(
      [&](const Input&, TapeDraws& draws) {
        const double u = draws.coin();
        return std::vector<Token>{u < third ? 0 : u <= .7 ? 1 : 2};
      },
      53);
  const ProgramDistribution distribution = distribution_of(program, drawing_input, {.coin_bits = 53});
  const double cells = 0x1p53, first = std::ceil(third * cells), second = std::floor(.7 * cells) + 1;
  EXPECT_EQ(distribution.of({0}), first / cells);
  EXPECT_EQ(distribution.of({1}), (second - first) / cells);
  EXPECT_EQ(distribution.of({2}), (cells - second) / cells);
}

TEST(ExploreDraws, LoneClockIsSearchedAsAUniform) {
  InProcess program([](const Input&, TapeDraws& draws) { return std::vector<Token>{draws.race(1)[0] < 1}; });
  const ProgramDistribution distribution = distribution_of(program, drawing_input);
  EXPECT_EQ(distribution.state, DistributionState::settled);
  EXPECT_NEAR(distribution.of({1}), 1 - std::exp(-1.0), 0x1p-24);
}

}  // namespace
}  // namespace draftproof::adapters
