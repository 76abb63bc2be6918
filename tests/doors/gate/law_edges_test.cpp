// Slips that cost less than rounding explains, and rows without an answer.
#include <draftproof/doors/gate/law_checks.hpp>

#include <cmath>

#include <draftproof/tests/support/doors_slips.hpp>

namespace draftproof::doors {
namespace {

using namespace slips;

TEST(LawEdges, AcceptsEqualNumbers) {
  for (const auto& [bits, probability] : {std::pair{24, "2^-24"}, {53, "2^-53"}}) {
    Chain chain;
    chain.accepts = [](double u, double p, double q) { return u * q <= p; };
    const LawChecks checks = laws_of(chain, bits);
    expect_violated(checks, "zero_support", "L=1 K=1 [] p=(0 1)/1 q=(1 0)/1",
                    std::string("on drafts (0): emits token 0 after [], which has p = 0, probability ") +
                        probability + " a decision: where coin 0 is 0 of " + (bits == 24 ? "2^24 (0)" : "2^53 (0)"));
    expect_others_held(checks, {"zero_support"});  // the mass is within what rounding explains
  }
}

/// The first cell with u < a running sum in float of the weights, or of the weights over their sum; else the last one.
Token inverted_in_float(const Weights& weights, double u, bool normalised) {
  float total = 0, sum = 0;
  for (const double weight : weights) total += static_cast<float>(weight);
  for (std::size_t x = 0; x < weights.size(); ++x) {
    sum += normalised ? static_cast<float>(weights[x]) / total : static_cast<float>(weights[x]);
    if (static_cast<float>(u) < sum) return static_cast<Token>(x);
  }
  return static_cast<Token>(weights.size()) - 1;
}

TEST(LawEdges, LastCoinsRunPastTheLastCell) {
  for (const bool normalised : {false, true}) {
    Chain chain;
    chain.last = [&](TapeDraws& draws, const Weights& weights, double) {
      const bool is_law = std::abs(1 - std::accumulate(weights.begin(), weights.end(), 0.0)) < 1e-6;
      return inverted_in_float(weights, draws.coin(), normalised || !is_law);
    };
    const LawChecks checks = laws_of(chain);
    const GateFinding& finding = law_finding(checks, "zero_support");
    EXPECT_EQ(finding.status, Status::violated);
    EXPECT_EQ(finding.evidence,
              "on drafts (3): emits token 3 after [], which has p = 0, probability 2^-24 a decision: where coin 1 is "
              "16777215 of 2^24 (0.99999994)");
    // In float two numbers that sum to 1 do so when rounded: three and a token without weight are needed.
    const PathInstance instance = PathInstance::parse(finding.instance);
    EXPECT_EQ(instance.vocabulary(), 4);
    EXPECT_EQ(instance.shape, (TreeShape{.drafts = 1, .length = 1}));
    EXPECT_EQ(instance.rows.size(), 1u);
    EXPECT_EQ(instance.after({}).target[3], 0);
    expect_others_held(checks, {"zero_support"});
  }
}

TEST(LawEdges, ZeroResidualGivesTokenZero) {
  // A 53-bit uniform as float is 1 for its last 2^28 values: a draft with p = q is rejected.
  Chain chain;
  chain.accepts = [](double u, double p, double q) { return static_cast<float>(u) * q < p; };
  chain.last = [](TapeDraws& draws, const Weights& weights, double) {
    for (const double weight : weights)
      if (weight > 0) return draws.pick(weights);
    return 0;
  };
  const LawChecks checks = laws_of(chain, 53);
  expect_violated(
      checks, "zero_support", "L=1 K=1 [] p=(0 1)/1 q=(0 1)/1",
      "on drafts (1): emits token 0 after [], which has p = 0, probability 2^-25 a decision: where coin 0 is "
      "9007198986305536 .. 9007199254740991 of 2^53 (0.99999997 .. 1)");
  expect_others_held(checks, {"zero_support"});
  // The same program on the grid of float32.
  expect_others_held(laws_of(chain, 24), {});
}

TEST(LawEdges, HiddenState) {
  int calls = 0;
  const Chain chain;
  const LawChecks checks = laws_of([&](const Input& input, TapeDraws& draws) {
    std::vector<Token> tokens = chain(input, draws);
    if (++calls % 3 == 0) tokens.pop_back();
    return tokens;
  });
  const GateFinding& finding = law_finding(checks, "function");
  EXPECT_EQ(finding.status, Status::violated);
  const PathInstance instance = PathInstance::parse(finding.instance);
  EXPECT_LE(instance.vocabulary(), 2);
  EXPECT_EQ(instance.shape, (TreeShape{.drafts = 1, .length = 1}));
  EXPECT_NE(finding.evidence.find("): equal calls have different results on the tape (0."), std::string::npos)
      << finding.evidence;
  expect_others_held(checks, {"function"});  // there is no law to judge
}

TEST(LawEdges, RowsWithoutAnAnswer) {
  for (const auto& [status, words] : {std::pair{RowStatus::crashed, "dies"},
                                      {RowStatus::failed, "fails"},
                                      {RowStatus::bad_input, "refuses the row"}}) {
    const Chain chain;
    const LawChecks checks = laws_of([&, stopped = status](const Input& input, TapeDraws& draws) {
      if (input.p[0][0] == 0 && input.q[0][0] > 0) throw StopRun{stopped};
      return chain(input, draws);
    });
    expect_violated(checks, "answers", "L=1 K=1 [] p=(0 1)/1 q=(1 0)/1",
                    std::string("on drafts (0): ") + words + ", probability 1 a decision");
    if (status == RowStatus::failed) {  // what such rows should have emitted is not known
      const GateFinding& law = law_finding(checks, "exact_law");
      EXPECT_EQ(law.status, Status::undecided);
      EXPECT_TRUE(law.evidence.ends_with("so the law of the others is not judged")) << law.evidence;
      EXPECT_EQ(checks.instances, 60) << "other instances have a law";
    } else {
      expect_violated(checks, "exact_law", "L=1 K=1 [] p=(0 1)/1 q=(1 0)/1",
                      "emits nothing with probability 1, TV 1, rounding explains 6e-07");
    }
    expect_others_held(checks, {"answers", "exact_law"});
  }
}

TEST(LawEdges, AProgramThatFailsOnEveryInputIsAnError) {
  const std::string why = "ValueError: no such table (mine.py line 12)";
  const std::vector<InProcess::Body> bodies{[&](const Input&, TapeDraws&) -> std::vector<Token> {
                                              throw StopRun{RowStatus::failed, why};
                                            },
                                            [&](const Input& input, TapeDraws& draws) -> std::vector<Token> {
                                              Chain{}(input, draws);
                                              throw StopRun{RowStatus::failed, why};
                                            },
                                            [&](const Input&, TapeDraws& draws) -> std::vector<Token> {
                                              if (draws.coin() < .5) draws.integer(3);
                                              throw StopRun{RowStatus::failed, why};
                                            }};
  for (const auto& body : bodies)
    for (const int instances : {1, 60}) {
      InProcess program(body);
      try {
        check_laws(program, {.name = "mine"}, {.instances = instances});
        ADD_FAILURE() << "found a verdict";
      } catch (const ProgramFails& error) {
        EXPECT_EQ(error.what(), "mine fails on every input: " + why);
      }
    }
}

TEST(LawEdges, AFailureIsToldWithItsDrawsAndItsMessage) {
  struct Variant {
    std::function<bool(const std::vector<double>& coins)> fails;
    std::string where, probability;
  };
  const std::vector<Variant> variants{
      {[](const auto& coins) { return coins[0] == 1 - 0x1p-25; }, "coin 0 is 33554431 of 2^25 (0.99999997)", "2^-25"},
      {[](const auto& coins) { return coins[0] >= .5 && coins[1] < 0x1p-25; },
       "coin 0 is 16777216 .. 33554431 of 2^25 (0.5 .. 0.99999997) and coin 1 is 0 of 2^25 (0)", "2^-26"},
      {[](const auto& coins) { return coins[1] >= .75; },
       "coin 1 is 25165824 .. 33554431 of 2^25 (0.75 .. 0.99999997)", "1/4"}};
  for (const Variant& variant : variants) {
    const LawChecks checks = laws_of(
        [&](const Input& input, TapeDraws& draws) {
          if (variant.fails({draws.coin(), draws.coin()}))
            throw StopRun{RowStatus::failed, "ValueError: weights\ndo not sum to 1 (mine.py line 12)"};
          return Chain{}(input, draws);
        },
        25);
    expect_violated(checks, "answers", "L=1 K=1 [] p=(1)/1 q=(1)/1",
                    "on drafts (0): fails with ValueError: weights do not sum to 1 (mine.py line 12), probability " +
                        variant.probability + " a decision: where " + variant.where);
    EXPECT_NE(law_finding(checks, "exact_law").status, Status::violated) << "the missing mass is no wrong law";
    expect_others_held(checks, {"answers", "exact_law"});
  }
}

TEST(LawEdges, AWrongLawIsFoundBesideRowsThatFail) {
  Chain chain;
  chain.residual = [](const Weights& p, const Weights&) { return p; };
  const LawChecks checks = laws_of([&](const Input& input, TapeDraws& draws) {
    if (draws.coin() < 1. / 64) throw StopRun{RowStatus::failed, "OSError: no file"};
    return chain(input, draws);
  });
  EXPECT_EQ(law_finding(checks, "exact_law").status, Status::violated);
  EXPECT_EQ(law_finding(checks, "answers").status, Status::violated);
}

TEST(LawEdges, AReplayShowsTheMessage) {
  InProcess program([](const Input&, TapeDraws&) -> std::vector<Token> {
    throw StopRun{RowStatus::failed, "OSError: no file"};
  });
  const LawChecks checks = check_laws_on(program, {.name = "mine"}, "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1", {});
  ASSERT_EQ(checks.laws.size(), 1u);
  EXPECT_TRUE(checks.laws[0].starts_with("drafts (1), probability 1: status failed: OSError: no file 1, "))
      << checks.laws[0];
}

TEST(LawEdges, LostProgramsNameTheInstance) {
  const Chain chain;
  int rows = 0;
  const LawChecks checks = laws_of([&](const Input& input, TapeDraws& draws) {
    if (input.vocabulary() > 2) throw DoorError("mine: found 3 rows that kill the program");
    ++rows;
    return chain(input, draws);
  });
  ASSERT_EQ(checks.findings.size(), 1u) << "nothing is said of the instances that follow";
  const GateFinding& lost = checks.findings[0];
  EXPECT_EQ(lost.check, "protocol");
  EXPECT_EQ(lost.status, Status::violated);
  EXPECT_EQ(lost.evidence, "mine: found 3 rows that kill the program");
  EXPECT_GT(PathInstance::parse(lost.instance).vocabulary(), 2);
  EXPECT_EQ(lost.replay, "draftproof replay --door 'exec:mine' --instance '" + lost.instance + "'");
  EXPECT_GT(checks.instances, 0);
  EXPECT_GT(rows, 0);
}

TEST(LawEdges, FindingsStandWhereTheProgramIsLostLater) {
  Chain chain;
  chain.residual = [](const Weights& p, const Weights&) { return p; };
  const LawChecks whole = laws_of(chain);
  auto left = whole.calls;  // until the search for a smaller instance begins
  const LawChecks checks = laws_of([&](const Input& input, TapeDraws& draws) {
    if (left-- == 0) throw DoorError("mine: found no answer");
    return chain(input, draws);
  });
  const GateFinding& law = law_finding(checks, "exact_law");
  EXPECT_EQ(law.status, Status::violated);
  EXPECT_FALSE(law.instance.empty());
  EXPECT_EQ(checks.calls, whole.calls);
}

TEST(LawEdges, RowsThatFailOnSomeCoins) {
  const Chain chain;
  const LawChecks checks = laws_of([&](const Input& input, TapeDraws& draws) {
    std::vector<Token> tokens = chain(input, draws);
    const bool both = input.vocabulary() > 1 && input.p[0][0] > 0 && input.p[0][1] > 0;
    if (both && tokens.size() == 1) throw StopRun{RowStatus::failed};
    return tokens;
  });
  expect_violated(
      checks, "answers", "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1",
      "on drafts (1): fails, probability 1/2 a decision: where coin 0 is 8388608 .. 16777215 of 2^24 (0.5 .. "
      "0.99999994)");
  expect_others_held(checks, {"answers", "exact_law"});
}

TEST(LawEdges, DrawsFromWeightsWithoutMass) {
  Chain chain;
  chain.residual = [](const Weights& p, const Weights& q) {
    Weights weights = residual_of(p, q);
    for (double& weight : weights) weight = std::max(weight - .25, 0.0);
    return weights;
  };
  const LawChecks checks = laws_of(chain);
  // A quarter is all that the residual has: p - q of token 1.
  expect_violated(checks, "answers", "L=1 K=1 [] p=(0 1)/1 q=(1 3)/4",
                  "on drafts (0): draws from weights without mass, probability 1 a decision");
  EXPECT_EQ(law_finding(checks, "exact_law").status, Status::violated);
  expect_others_held(checks, {"answers", "exact_law"});
}

TEST(LawEdges, DrawsWithoutEndAreUndecided) {
  // Such a law may have any form beyond the longest tape.
  const LawChecks checks = laws_of([](const Input&, TapeDraws& draws) {
    while (draws.coin() < 1) {
    }
    return std::vector<Token>{0};
  });
  const GateFinding& finding = law_finding(checks, "exact_law");
  EXPECT_EQ(finding.status, Status::undecided);
  EXPECT_EQ(finding.evidence, "8 instances: 1 of the probability was not explored");
  for (const char* check : {"zero_support", "answers"})
    EXPECT_EQ(law_finding(checks, check).status, Status::undecided);
  EXPECT_EQ(law_finding(checks, "function").status, Status::held);
  EXPECT_EQ(checks.instances, 8) << "a program is given up after eight instances without a decision";
  EXPECT_LT(checks.calls, 8 * 9 * 300) << "an input of which no call ends has few";
}

TEST(LawEdges, DrawsUntilOneFitsAreUndecidedInBoundedTime) {
  for (const bool wrong : {false, true}) {
    const auto body = [wrong](const Input& input, TapeDraws& draws) {
      for (std::size_t i = 0; i < input.drafts.size(); ++i) {
        const auto x = static_cast<std::size_t>(input.drafts[i]);
        if (draws.coin() * input.q[i][x] < input.p[i][x]) continue;
        for (;;) {
          const auto y = static_cast<std::size_t>(draws.pick(input.p[i]));
          if (!wrong && !(draws.coin() * input.p[i][y] < input.p[i][y] - input.q[i][y])) continue;
          if (wrong && draws.coin() < .5) continue;
          std::vector<Token> tokens(input.drafts.begin(), input.drafts.begin() + static_cast<std::ptrdiff_t>(i));
          tokens.push_back(static_cast<Token>(y));
          return tokens;
        }
      }
      std::vector<Token> tokens = input.drafts;
      tokens.push_back(draws.pick(input.p.back()));
      return tokens;
    };
    InProcess program(body);
    const LawChecks checks =
        check_laws(program, {.name = "mine"}, {.instances = 20, .most_drafts = 2, .explore = {.most_calls = 4000}});
    const GateFinding& law = law_finding(checks, "exact_law");
    EXPECT_EQ(law.status, wrong ? Status::violated : Status::undecided) << law.evidence;
    if (wrong) continue;
    EXPECT_TRUE(law.evidence.ends_with(" of the probability was not explored")) << law.evidence;
    EXPECT_LT(checks.calls, 120'000u) << "the budget, calls of decided instances and one instance beyond it";
  }
}

}  // namespace
}  // namespace draftproof::doors
