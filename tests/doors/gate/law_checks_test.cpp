#include <draftproof/doors/gate/law_checks.hpp>

#include <cmath>
#include <memory>

#include <draftproof/tests/support/doors_slips.hpp>
#include <draftproof/tests/support/hostile.hpp>

namespace draftproof::doors {
namespace {

using namespace slips;

TEST(LawChecks, RightChainsHold) {
  for (const int bits : {24, 53}) {
    const LawChecks checks = laws_of(Chain{}, bits);
    ASSERT_EQ(checks.findings.size(), 5u);
    expect_others_held(checks, {});
    EXPECT_EQ(checks.instances, 60);
    EXPECT_GT(checks.calls, 100'000u);
    EXPECT_GE(checks.predictions, 256u * 60);
    EXPECT_LT(checks.largest, bits == 24 ? 4 * 0x1p-24 : 4 * 0x1p-52);
    EXPECT_FALSE(checks.farthest.empty());
  }
}

TEST(LawChecks, ResidualIsP) {
  Chain chain;
  chain.residual = [](const Weights& p, const Weights&) { return p; };
  const LawChecks checks = laws_of(chain);
  // Token 1 is rejected half of the time; then token 0 comes in half of the cases, not always.
  expect_violated(checks, "exact_law", "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1",
                  "token 0 after []: got 1/4, wanted 1/2, TV 1/4, rounding explains 9e-07");
  expect_others_held(checks, {"exact_law"});
}

TEST(LawChecks, BonusOfAnotherRow) {
  const LawChecks checks = laws_of(Chain{.bonus_of_last_draft = true});
  expect_violated(checks, "exact_law", "L=1 K=1 [] p=(1 0)/1 q=(1 0)/1 [0] p=(0 1)/1 q=(0 1)/1",
                  "token 0 after [0]: got 1, wanted 0, TV 1, rounding explains 6e-07");
  expect_others_held(checks, {"exact_law", "zero_support"});
}

TEST(LawChecks, CoinIsReused) {
  Chain chain;
  chain.last = [](TapeDraws&, const Weights& weights, double u) { return inverted(weights, u); };
  const LawChecks checks = laws_of(chain);
  // Token 1 is accepted for u < 1/2, and that u inverts the bonus too: token 0 always.
  expect_violated(checks, "exact_law", "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1",
                  "token 0 after [1]: got 1/2, wanted 1/4, TV 1/4, rounding explains 8e-07");
  expect_others_held(checks, {"exact_law"});
}

TEST(LawChecks, DeviationThatRoundingExplainsHolds) {
  // The wrong law of a program in bfloat16 is a right one within the limit of that format, and beyond that of float32.
  for (const auto& [dtype, status] : {std::pair{Dtype::bfloat16, Status::held}, {Dtype::float32, Status::violated}}) {
    Chain chain;
    chain.accepts = [](double u, double p, double q) { return u * q < p * (1 - 0x1p-9); };
    InProcess program(chain);
    const Declaration declaration{.name = "chain", .dtypes = {dtype}};
    const LawChecks checks = check_laws(program, declaration, {.instances = 60});
    EXPECT_EQ(law_finding(checks, "exact_law").status, status);
    EXPECT_EQ(checks.largest > 0x1p-12, status == Status::held);
  }
}

/// Rejection with one residual after the other, for i.i.d. drafts of one position.
std::vector<Token> recursive_rejection(const Input& input, TapeDraws& draws) {
  Weights target = input.p[0];
  for (const Token x : input.drafts) {
    const auto at = static_cast<std::size_t>(x);
    if (draws.coin() * input.q[0][at] < target[at]) return {x};
    target = residual_of(target, input.q[0]);
    const double total = std::accumulate(target.begin(), target.end(), 0.0);
    for (double& weight : target) weight /= total;
  }
  return {static_cast<Token>(draws.pick(target))};
}

TEST(LawChecks, RightPositionsHold) {
  const LawChecks checks = laws_of(recursive_rejection, 24, Level::position);
  ASSERT_EQ(checks.findings.size(), 6u);
  EXPECT_EQ(checks.findings[4].check, "optimum");
  expect_others_held(checks, {});
  EXPECT_EQ(checks.instances, 60);
}

TEST(LawChecks, MoreAcceptedThanAnyVerifierCan) {
  const LawChecks checks = laws_of(
      [](const Input& input, TapeDraws&) { return std::vector<Token>{input.drafts.front()}; }, 24, Level::position);
  expect_violated(checks, "optimum", "p=(0 1)/1 q=(1 0)/1 K=1", "accepts 1, the optimum is 0");
  expect_violated(checks, "exact_law", "p=(0 1)/1 q=(1 0)/1 K=1",
                  "token 0 after []: got 1, wanted 0, TV 1, rounding explains 6e-07");
  expect_others_held(checks, {"optimum", "exact_law", "zero_support"});
}

TEST(LawChecks, ReplaysOneInstance) {
  Chain chain;
  chain.residual = [](const Weights& p, const Weights&) { return p; };
  InProcess program(chain);
  const Declaration declaration{.name = "chain"};
  const std::string instance = "L=1 K=1 [] p=(1 3)/4 q=(0 1)/1";
  const LawChecks checks = check_laws_on(program, declaration, instance, {.door = "exec:mine"});
  EXPECT_EQ(checks.instances, 1);
  // Accepts 3/4; then the residual is token 0, of which p has 1/4.
  expect_violated(checks, "exact_law", instance,
                  "token 0 after []: got 1/16, wanted 1/4, TV 3/16, rounding explains 9e-07");
  ASSERT_EQ(checks.laws.size(), 3u);
  EXPECT_TRUE(checks.laws[0].starts_with("drafts (1), probability 1: (0) 1/16, (1) 3/16, (1 0) 3/16, (1 1) 9/16, "))
      << checks.laws[0];
  // The coin that decides, with what follows on either side of 3/4.
  EXPECT_EQ(checks.laws[1], "  place 0, coin, 0 .. 12582911 of 2^24, probability 3/4: (1 0) 3/16, (1 1) 9/16");
  EXPECT_EQ(checks.laws[2], "  place 0, coin, 12582912 .. 16777215 of 2^24, probability 1/4: (0) 1/16, (1) 3/16");
  EXPECT_THROW(check_laws_on(program, declaration, "L=1 K=2 [] p=(1 1)/2 q=(1 1)/2", {}), DoorError);
  EXPECT_THROW(check_laws_on(program, declaration, "L=1 K=1", {}), std::invalid_argument);
}

TEST(LawChecks, SaysWhatItFoundInNumbers) {
  using Numbers = std::vector<std::pair<std::string, double>>;
  Chain chain;
  const LawChecks right = laws_of(chain);
  EXPECT_EQ(law_finding(right, "exact_law").numbers, (Numbers{{"distance", right.largest}, {"limit", right.limit}}));
  EXPECT_LT(right.largest, right.limit);
  chain.residual = [](const Weights& p, const Weights&) { return p; };
  const Numbers wrong = law_finding(laws_of(chain), "exact_law").numbers;
  ASSERT_EQ(wrong.size(), 2u);
  EXPECT_NEAR(wrong[0].second, 0.25, wrong[1].second);  // on the counterexample of ResidualIsP
  EXPECT_LT(wrong[1].second, 1e-6);
  Chain edge;
  edge.accepts = [](double u, double p, double q) { return u * q <= p; };
  EXPECT_EQ(law_finding(laws_of(edge), "zero_support").numbers, (Numbers{{"probability", 0x1p-24}}));
}

/// Notes the inputs of a law's first calls.
struct Noted {
  std::shared_ptr<std::vector<Input>> inputs = std::make_shared<std::vector<Input>>();
  std::vector<Token> operator()(const Input& input, TapeDraws& draws) const {
    if (inputs->empty() || !(inputs->back() == input)) inputs->push_back(input);
    return Chain{}(input, draws);
  }
};

TEST(LawChecks, GivenInstancesComeFirstInTheirOrder) {
  const Noted noted;
  InProcess program(noted);
  const Declaration declaration{.name = "chain"};
  // Larger than generated ones are, and the larger one first.
  const std::vector<std::string> first{"L=2 K=1 [] p=(1 2 3 4 5)/15 q=(1 0 0 0 0)/1",
                                       "L=1 K=1 [] p=(7 2)/9 q=(1 0)/1"};
  const LawChecks checks = check_laws(program, declaration, {.instances = 1, .first = first});
  EXPECT_EQ(checks.instances, 3);
  ASSERT_GE(noted.inputs->size(), 3u);
  EXPECT_EQ((*noted.inputs)[0].vocabulary(), 5);
  EXPECT_EQ((*noted.inputs)[1].p.size(), 2u);
  EXPECT_DOUBLE_EQ((*noted.inputs)[1].p[0][0], 7. / 9);
  EXPECT_EQ(check_laws(program, declaration, {.instances = 0, .first = first}).instances, 2);
}

TEST(LawChecks, AnInstanceOfAnotherShapeIsRefused) {
  const auto refused = [](Declaration declaration, const std::string& text, const std::string& part) {
    hostile::expect_input_error([&] { check_instance(declaration, text); }, {"--instance: found ", part});
  };
  const Declaration chain{.name = "mine"}, position{.name = "mine", .level = Level::position};
  check_instance(chain, "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1");
  check_instance(position, "p=(1 1)/2 q=(0 1)/1 K=1");
  refused(chain, "p=(1 1)/2 q=(0 1)/1 K=1", "wanted an instance of the level chain");
  refused(position, "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1", "wanted an instance of the level position");
  refused(chain, "L=1 K=2 [] p=(1 1)/2 q=(0 1)/1", "wanted an instance that the declaration of mine takes");
  refused({.name = "mine", .most_vocabulary = 2}, "L=1 K=1 [] p=(1 1 1)/3 q=(0 1 1)/2", "wanted an instance that");
}

TEST(LawChecks, FewerDraftsAndPredictionsTakeFewerCalls) {
  const Declaration declaration{.name = "chain"};
  InProcess program(Chain{});
  const LawChecks usual = check_laws(program, declaration, {.instances = 20});
  const LawChecks quick =
      check_laws(program, declaration, {.instances = 20, .most_drafts = 2, .explore = {.predictions = 64}});
  EXPECT_EQ(quick.instances, 20);
  EXPECT_LT(quick.calls, 40'000u);
  EXPECT_LT(4 * quick.calls, usual.calls);
  for (int n = 0; n < 100; ++n) {
    EXPECT_LE(foreign_path_instance(declaration, 1, n, 2).shape.length, 2);
    const Declaration tuples{.name = "tuples", .level = Level::position};
    EXPECT_LE(foreign_instance(tuples, 1, n, 2).drafts, 2);
  }
  // A program that wants more gets more.
  EXPECT_EQ(foreign_path_instance({.name = "chain", .fewest_drafts = 3}, 1, 0, 2).shape.length, 3);
}

/// A chain that answers no more after some runs.
InProcess::Body silent_after(std::uint64_t& left, Chain chain = {}) {
  return [&left, chain](const Input& input, TapeDraws& draws) {
    if (left == 0) throw ProgramSilent("the time limit of 30 s is over");
    --left;
    return chain(input, draws);
  };
}

TEST(LawChecks, WhatASilentProgramLeavesOpenIsUndecided) {
  const std::uint64_t all = laws_of(Chain{}).calls;
  for (std::uint64_t left : {std::uint64_t{0}, std::uint64_t{5}, all / 2}) {
    const LawChecks checks = laws_of(silent_after(left));
    ASSERT_EQ(checks.findings.size(), 5u);
    for (const GateFinding& finding : checks.findings) {
      EXPECT_EQ(finding.status, Status::undecided) << finding.check;
      EXPECT_EQ(finding.evidence, "the time limit of 30 s is over");
    }
    EXPECT_LT(checks.instances, 60);
  }
}

TEST(LawChecks, WhatWasFoundBeforeASilenceStands) {
  Chain edge;
  edge.accepts = [](double u, double p, double q) { return u * q <= p; };
  const std::uint64_t all = laws_of(edge).calls;
  std::uint64_t left = all / 2;  // the first violation comes on a small instance
  const LawChecks checks = laws_of(silent_after(left, edge));
  EXPECT_EQ(law_finding(checks, "zero_support").status, Status::violated);
  EXPECT_FALSE(law_finding(checks, "zero_support").replay.empty());
  for (const char* check : {"exact_law", "answers", "function", "inputs_unchanged"})
    EXPECT_EQ(law_finding(checks, check).status, Status::undecided);
}

TEST(LawChecks, ALawIsKeptAsFarAsItWasFound) {
  const Input input{.p = {{.5, .5}, {.5, .5}}, .q = {{.25, .75}}, .drafts = {1}};
  for (std::uint64_t left : {0, 40, 300}) {
    InProcess program(silent_after(left));
    const ProgramLaw law = law_of(program, input);
    EXPECT_EQ(law.state, LawState::unsettled);
    EXPECT_EQ(law.silent, "the time limit of 30 s is over");
    EXPECT_EQ(law.remarks.back(), law.silent);
    double known = law.unexplored;
    for (const OutcomeMass& each : law.outcomes) known += each.probability;
    EXPECT_DOUBLE_EQ(known, 1);
  }
  std::uint64_t left = 300;  // the tree is whole, and predictions are left
  InProcess program(silent_after(left));
  EXPECT_NEAR(law_of(program, input).of({0}), 1. / 3, 1e-6);
}

TEST(LawChecks, ArraysChangedInPlaceAreNamed) {
  struct Variant {
    std::string names, instance, drafts;
    std::function<bool(const Input&)> changes;
  };
  const std::vector<Variant> variants{
      {"p", "L=1 K=1 [] p=(1)/1 q=(1)/1", "(0)", [](const Input&) { return true; }},
      {"q, drafts", "L=2 K=1 [] p=(1)/1 q=(1)/1", "(0 0)", [](const Input& in) { return in.drafts.size() > 1; }},
      {"p, q", "L=1 K=1 [] p=(0 1)/1 q=(0 1)/1", "(1)", [](const Input& in) { return in.drafts.front() == 1; }}};
  for (const Variant& variant : variants) {
    const LawChecks checks = laws_of([&](const Input& input, TapeDraws& draws) {
      if (variant.changes(input)) draws.overwrites(variant.names);
      return Chain{}(input, draws);
    });
    expect_violated(checks, "inputs_unchanged", variant.instance,
                    "on drafts " + variant.drafts + ": overwrites " + variant.names);
    expect_others_held(checks, {"inputs_unchanged"});  // the tokens count
  }
}

TEST(LawChecks, StopsWhenItIsTold) {
  InProcess program(Chain{});
  std::atomic<bool> stop = false;
  int seen = 0;
  const LawChecks checks =
      check_laws(program, {.name = "chain"}, {.instances = 60, .stop = &stop, .progress = [&](int instances) {
                                                seen = instances;
                                                stop = instances == 3;
                                              }});
  EXPECT_EQ(checks.instances, 3);
  EXPECT_EQ(seen, 3);
}

}  // namespace
}  // namespace draftproof::doors
