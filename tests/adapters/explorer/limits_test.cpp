// Edges, endless programs, programs with hidden state, and logs and options that the explorer refuses.
#include <draftproof/adapters/explorer/explore.hpp>

#include <stdexcept>

#include <draftproof/adapters/declaration.hpp>
#include <draftproof/tests/support/adapters_in_process.hpp>

namespace draftproof::adapters {
namespace {

const Input limits_input{.p = {{.5, .3, .2}, {.25, .25, .5}}, .q = {{.7, .2, .1}}, .drafts = {0}};

/// Draws a second coin if the first is below 1/2. Crashes without a log if the second is 3/4 or more.
class Crashes : public Program {
 public:
  void run(std::span<const Input>, std::span<const Call> calls, std::span<Run> runs) override {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const bool two = calls[i].tape[0] < .5;
      runs[i].tokens = {two ? 1 : 2};
      runs[i].draws.assign(two ? 2 : 1, Draw{});
      if (!two || calls[i].tape[1] < .75) continue;
      runs[i] = {};
      runs[i].status = RowStatus::crashed;
    }
  }
};

/// Returns the same log for every run.
class Logs : public Program {
 public:
  explicit Logs(std::vector<Draw> log) : log_(std::move(log)) {}
  void run(std::span<const Input>, std::span<const Call> calls, std::span<Run> runs) override {
    for (std::size_t i = 0; i < calls.size(); ++i) runs[i].draws = log_;
  }

 private:
  std::vector<Draw> log_;
};

TEST(ExploreLimits, ZeroCoinThatAcceptsAnImpossibleTokenIsAnEdge) {
  const Input impossible{.p = {{0, 1}, {.5, .5}}, .q = {{.5, .5}}, .drafts = {0}};
  const auto verifier = [](bool strict) {
    return [strict](const Input& in, TapeDraws& draws) {
      const double u = draws.coin(), t = in.p[0][0] / in.q[0][0];
      if (strict ? u < t : u <= t) return std::vector<Token>{0, draws.pick(in.p[1])};
      return std::vector<Token>{1};
    };
  };
  InProcess right(verifier(true)), wrong(verifier(false));
  EXPECT_TRUE(distribution_of(right, impossible).edges.empty());
  const ProgramDistribution distribution = distribution_of(wrong, impossible);
  EXPECT_EQ(distribution.state, DistributionState::settled);
  ASSERT_EQ(distribution.edges.size(), 1u);
  const Stretch& edge = distribution.edges.front();
  EXPECT_EQ(edge.place, 0);
  EXPECT_EQ(edge.bits, 24);
  EXPECT_EQ(edge.first, 0u);
  EXPECT_EQ(edge.last, 0u);
  EXPECT_EQ(edge.probability, 0x1p-24);
  ASSERT_EQ(edge.outcomes.size(), 2u);
  EXPECT_EQ(edge.outcomes[0].outcome.tokens, (std::vector<Token>{0, 0}));
  EXPECT_EQ(edge.outcomes[0].probability, 0x1p-25);
  EXPECT_EQ(distribution.of({1}), 1 - 0x1p-24);
  // The only threshold is at an end of the grid. It does not separate two wide intervals, so it does not raise the
  // limit.
  EXPECT_LT(distribution.limit, 3 * 0x1p-24);
}

TEST(ExploreLimits, LastCoinThatRunsPastTheLastBucketIsAnEdge) {
  // Imitates a program whose float weights sum to less than 1, so that the largest coin is beyond their sum.
  InProcess program([](const Input&, TapeDraws& draws) {
    const double u = draws.coin();
    return std::vector<Token>{u < .5 ? 0 : u < 1 - 0x1p-24 ? 1 : 99};
  });
  const ProgramDistribution distribution = distribution_of(program, limits_input);
  ASSERT_EQ(distribution.edges.size(), 1u);
  EXPECT_EQ(distribution.edges[0].first, (1u << 24) - 1);
  EXPECT_EQ(distribution.of({99}), 0x1p-24);
  EXPECT_EQ(distribution.limit, 0x1p-24 * (1 + 3));  // rounding of one threshold between wide intervals, and V = 3
}

TEST(ExploreLimits, EndsOfTheGridAreAskedWithoutPredictions) {
  const Input bare{.p = {{1}}, .q = {}, .drafts = {}};
  InProcess program([](const Input&, TapeDraws& draws) {
    const double u = draws.coin();
    return std::vector<Token>{u == 0 ? 1 : u == 1 - 0x1p-24 ? 2 : 0};
  });
  const ProgramDistribution distribution = distribution_of(program, bare, {.predictions = 1});
  EXPECT_EQ(distribution.of({1}), 0x1p-24);
  EXPECT_EQ(distribution.of({2}), 0x1p-24);
  EXPECT_EQ(distribution.edges.size(), 2u);
}

TEST(ExploreLimits, BranchesBelowTheLeastMassAreCut) {
  InProcess program([](const Input&, TapeDraws& draws) {
    while (draws.coin() < .5) continue;
    return std::vector<Token>{0};
  });
  const ProgramDistribution distribution = distribution_of(program, limits_input, {.least_mass = 0x1p-10});
  EXPECT_EQ(distribution.state, DistributionState::cut);
  EXPECT_EQ(distribution.unexplored, 0x1p-11);
  EXPECT_EQ(distribution.remarks, std::vector<std::string>{"branches with too small a probability were cut"});
}

TEST(ExploreLimits, LoopWithoutEndIsCutByMass) {
  InProcess program([](const Input& in, TapeDraws& draws) {
    for (;;) {
      const Token x = inverted(in.q[0], draws.coin());
      if (draws.coin() < .5) return std::vector<Token>{x};
    }
  });
  const ProgramDistribution distribution = distribution_of(program, limits_input, {.most_calls = 8000});
  EXPECT_EQ(distribution.state, DistributionState::cut);
  EXPECT_EQ(distribution.predicted, 256u);
  EXPECT_LT(distribution.calls, 8000u + 5 * 256u + 8000u / 8);
  EXPECT_GT(distribution.unexplored, 0);
  EXPECT_LT(distribution.unexplored, .1);
  double known = distribution.unexplored;
  for (const OutcomeMass& each : distribution.outcomes) known += each.probability;
  EXPECT_NEAR(known, 1, 1e-12);
  for (Token x = 0; x < 3; ++x) {
    EXPECT_LE(distribution.of({x}), limits_input.q[0][static_cast<std::size_t>(x)] + 0x1p-22);
    EXPECT_GE(distribution.of({x}) + distribution.unexplored,
              limits_input.q[0][static_cast<std::size_t>(x)] - 0x1p-22);
  }
  EXPECT_FALSE(distribution.remarks.empty());
}

TEST(ExploreLimits, EndlessDrawsEndInTapeShort) {
  InProcess program([](const Input&, TapeDraws& draws) {
    if (draws.coin() < .5) return std::vector<Token>{1};
    for (;;) draws.coin();
  });
  const ProgramDistribution distribution =
      distribution_of(program, limits_input, {.most_calls = 3000, .most_places = 40});
  EXPECT_EQ(distribution.state, DistributionState::cut);
  EXPECT_EQ(distribution.of({1}), .5);
  EXPECT_EQ(distribution.unexplored, .5);
}

TEST(ExploreLimits, DrawsLargerThanTheCallsAreCut) {
  InProcess picks([](const Input&, TapeDraws& draws) {
    if (draws.coin() < .5) return std::vector<Token>{-1};
    return std::vector<Token>{draws.pick(std::vector<double>(50000, 1))};
  });
  InProcess races([](const Input&, TapeDraws& draws) {
    if (draws.coin() < .5) return std::vector<Token>{-1};
    return std::vector<Token>{draws.race(600)[599] < 1};
  });
  for (InProcess* program : {&picks, &races}) {
    const ProgramDistribution distribution = distribution_of(*program, limits_input);
    EXPECT_EQ(distribution.state, DistributionState::cut);
    EXPECT_EQ(distribution.unexplored, .5);
    EXPECT_EQ(distribution.of({-1}), .5);
    EXPECT_LT(distribution.calls, 3000u);
    EXPECT_EQ(distribution.remarks.size(), 1u);
  }
}

TEST(ExploreLimits, LongTapesAreGrown) {
  InProcess program([](const Input&, TapeDraws& draws) {
    if (draws.coin() < .25) return std::vector<Token>{0};
    for (int i = 0; i < 150; ++i) draws.coin();
    return std::vector<Token>{draws.coin() < .5};
  });
  const ProgramDistribution distribution = distribution_of(program, limits_input);
  EXPECT_EQ(distribution.state, DistributionState::settled);
  EXPECT_EQ(distribution.of({1}), .375);
  EXPECT_EQ(distribution.most_places, 152);
  EXPECT_EQ(distribution.idle_places.size(), 150u);
}

TEST(ExploreLimits, HiddenStateIsReportedWithItsCall) {
  int runs = 0;
  InProcess counts([&](const Input&, TapeDraws& draws) {
    return std::vector<Token>{draws.coin() < .5 ? 0 : ++runs % 7 == 0 ? 2 : 1};
  });
  const ProgramDistribution distribution = distribution_of(counts, limits_input);
  EXPECT_EQ(distribution.state, DistributionState::not_a_function);
  EXPECT_TRUE(distribution.outcomes.empty());
  ASSERT_FALSE(distribution.tape.empty());
  EXPECT_GE(distribution.tape[0], .5);
  // The program's behaviour changes once, at call 30, and stays changed, so only a repeated call can show the change.
  int made = 0;
  InProcess changes(
      [&](const Input&, TapeDraws& draws) { return std::vector<Token>{draws.coin() < (++made < 30 ? .5 : .25)}; });
  EXPECT_EQ(distribution_of(changes, limits_input, {.repeat_every = 4}).state, DistributionState::not_a_function);
  // The number of draws depends on the number of earlier calls.
  int other = 0;
  InProcess draws_more([&](const Input&, TapeDraws& draws) {
    draws.coin();
    if (++other % 50 == 49) draws.coin();
    return std::vector<Token>{0};
  });
  EXPECT_EQ(distribution_of(draws_more, limits_input).state, DistributionState::not_a_function);
}

TEST(ExploreLimits, CoinsThatActTogetherAreUnsettled) {
  // No finite tree of intervals describes u + v < 1, because the threshold of v is another one for each value of u.
  InProcess program([](const Input&, TapeDraws& draws) {
    const double u = draws.coin();
    return std::vector<Token>{u + draws.coin() < 1};
  });
  const ProgramDistribution distribution = distribution_of(program, limits_input, {.most_witnesses = 12});
  EXPECT_EQ(distribution.state, DistributionState::unsettled);
  EXPECT_EQ(distribution.witnesses, 12u);
  EXPECT_EQ(distribution.tape.size(), 2u);
}

TEST(ExploreLimits, CrashesAreOutcomesAlthoughTheirLogIsLost) {
  // For some of these seeds the first tape that the explorer runs ends in a crash.
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    Crashes program;
    const ProgramDistribution distribution = distribution_of(program, limits_input, {.predictions = 1, .seed = seed});
    EXPECT_EQ(distribution.state, DistributionState::settled);
    EXPECT_EQ(distribution.of(RowStatus::crashed), .125);
    EXPECT_EQ(distribution.of({1}), .375);
    EXPECT_EQ(distribution.of({2}), .5);
  }
}

TEST(ExploreLimits, ProgramsWithoutDraws) {
  InProcess program([](const Input& in, TapeDraws&) { return std::vector<Token>{in.drafts[0]}; });
  const ProgramDistribution distribution = distribution_of(program, limits_input);
  EXPECT_EQ(distribution.state, DistributionState::settled);
  EXPECT_EQ(distribution.of({0}), 1);
  EXPECT_EQ(distribution.limit, 0);
}

TEST(ExploreLimits, InputsShareBatches) {
  const auto body = [](const Input& in, TapeDraws& draws) {
    if (draws.coin() < in.p[0][0] / in.q[0][0]) return std::vector<Token>{0, inverted(in.p[1], draws.coin())};
    return std::vector<Token>{inverted(residual_of(in.p[0], in.q[0]), draws.coin())};
  };
  std::vector<Input> inputs(50, limits_input);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].p[0][0] = .5 - .008 * static_cast<double>(i);
    inputs[i].p[0][1] = .3 + .008 * static_cast<double>(i);
  }
  InProcess program(body);
  const auto distributions = explore_program(program, inputs);
  ASSERT_EQ(distributions.size(), inputs.size());
  std::size_t calls = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    InProcess alone(body);
    const ProgramDistribution distribution = distribution_of(alone, inputs[i]);
    ASSERT_EQ(distributions[i].outcomes.size(), distribution.outcomes.size());
    for (std::size_t o = 0; o < distribution.outcomes.size(); ++o)
      EXPECT_EQ(distributions[i].outcomes[o].probability, distribution.outcomes[o].probability);
    EXPECT_LE(distributions[i].calls, 256u + 160u);  // at most 256 calls for predictions and 160 for the tree
    calls += distributions[i].calls;
  }
  EXPECT_EQ(calls, program.runs_made);
  EXPECT_LE(program.batches, 60u);
}

TEST(ExploreLimits, RefusesLogsAndOptionsOutOfRange) {
  const auto refused = [&](std::vector<Draw> log, const std::string& words) {
    Logs program(std::move(log));
    expect_error([&] { distribution_of(program, limits_input); }, words);
  };
  refused({{}, {.bits = 54}}, "draw 1: got a coin of 54 bits, expected 1 to 53");
  refused({{.kind = DrawKind::pick, .size = 2, .weights = {1}}}, "a pick of 2 cells with 1 weights");
  refused({{.kind = DrawKind::integer, .size = 0}}, "an integer below 0");
  refused({{.kind = DrawKind::clock, .size = -1}}, "a race of -1 clocks");
  refused({{.kind = static_cast<DrawKind>(9)}}, "kind 9");
  refused(std::vector<Draw>(600), "expected at most the 8 of its tape");
  Logs none({});
  EXPECT_THROW(distribution_of(none, limits_input, {.coin_bits = 54}), std::invalid_argument);
  EXPECT_THROW(distribution_of(none, limits_input, {.predictions = 0}), std::invalid_argument);
}

}  // namespace
}  // namespace draftproof::adapters
