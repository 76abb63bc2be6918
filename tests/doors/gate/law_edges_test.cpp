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
                        probability + " a decision");
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
              "on drafts (3): emits token 3 after [], which has p = 0, probability 2^-24 a decision");
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
  expect_violated(checks, "zero_support", "L=1 K=1 [] p=(0 1)/1 q=(0 1)/1",
                  "on drafts (1): emits token 0 after [], which has p = 0, probability 2^-25 a decision");
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
    expect_violated(checks, "exact_law", "L=1 K=1 [] p=(0 1)/1 q=(1 0)/1",
                    "emits nothing with probability 1, TV 1, rounding explains 6e-07");
    expect_others_held(checks, {"answers", "exact_law"});
  }
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
  expect_violated(checks, "answers", "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1",
                  "on drafts (1): fails, probability 1/2 a decision");
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
  EXPECT_EQ(checks.instances, 8) << "a program that uses up its calls is given up";
}

}  // namespace
}  // namespace draftproof::doors
