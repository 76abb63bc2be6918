// Tests that greedy block verification is exact as a process, in fractions, and that it is not exact without its carry.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/properties/paths/step_distribution.hpp>
#include <draftproof/tests/support/golden_path.hpp>
#include <draftproof/tests/support/small_models.hpp>

namespace draftproof {
namespace {

/// Returns the largest difference, over strings of `tokens` tokens, between the probability that the output begins with
/// the string and the target's probability of the string.
Rational process_error(std::string_view scheme, const small::Model& model, int length, int tokens) {
  const TreeShape shape{.drafts = 1, .length = length};
  const auto decider = small::verifier(scheme).prove_on(model, shape);
  const auto process = small::verifier(scheme).process_on(model);
  const auto distribution = explore_process<Rows<Rational>, Rational>(
      {small::drafter("iid_paths"), *decider, process.get(), model, shape}, tokens);
  EXPECT_TRUE(distribution.complete);
  Rational largest = 0, mass = 0;
  for (const auto& [prefix, probability] : distribution.emitted) {
    mass += probability;
    largest = std::max<Rational>(largest, abs(probability - target_probability(model, 0, prefix)));
  }
  // Also compares strings that are never emitted, which distribution.emitted does not list: their target mass must be
  // 0.
  Rational wanted = 0;
  for (const auto& [prefix, probability] : distribution.emitted) wanted += target_probability(model, 0, prefix);
  EXPECT_EQ(mass, 1);
  return std::max<Rational>(largest, Rational(1 - wanted));
}

TEST(Process, GreedyBlockIsExactOverSeveralIterations) {
  int wrong_without = 0;
  for (int seed = 0; seed < 10; ++seed) {
    const int vocabulary = seed % 3 == 0 ? 3 : 2, length = vocabulary == 2 ? 2 + seed % 2 : 2;
    const auto model = small::random_model(seed, vocabulary, length + 3);
    for (const int tokens : {length + 2, length + 3}) {
      EXPECT_EQ(process_error("greedy_block", model, length, tokens), 0) << seed << ' ' << tokens;
      EXPECT_EQ(process_error("block", model, length, tokens), 0) << seed << ' ' << tokens;
    }
    wrong_without += process_error("greedy_block_without_carry", model, length, length + 2) > 0;
  }
  EXPECT_GT(wrong_without, 5);
}

TEST(Process, TheSmallModelOverFiveTokens) {
  const auto small_model = small::constant({1, 2}, {2, 1});
  EXPECT_EQ(process_error("greedy_block", small_model, 2, 5), 0);
  // The value in tests/golden/path.json is 0.06995884773662552, which is 17/243 as a double.
  EXPECT_EQ(process_error("greedy_block_without_carry", small_model, 2, 5), Rational(17, 243));
}

TEST(Process, LayersNest) {
  // A carry can have a layer from each earlier iteration, at most L - 1. With L = 4 it has two after two iterations.
  const auto model = small::random_model(77, 2, 7);
  EXPECT_EQ(process_error("greedy_block", model, 4, 6), 0);
  const TreeShape shape{.drafts = 1, .length = 4};
  const auto decider = small::verifier("greedy_block").prove_on(model, shape);
  const auto process = small::verifier("greedy_block").process_on(model);
  const IteratedScheme<Rows<Rational>> scheme{small::drafter("iid_paths"), *decider, process.get(), model, shape};
  std::size_t deepest = 0;
  EXPECT_TRUE(explore_iteration(
      scheme, 0, {}, [&](const Tokens&, int context, const VerifierState<Rational>& carry, const Rational&) {
        EXPECT_TRUE(explore_iteration(
            scheme, context, carry,
            [&](const Tokens&, int, const VerifierState<Rational>& next, const Rational& probability) {
              if (probability > 0) deepest = std::max(deepest, next.size());
              for (const auto& layer : next) EXPECT_GT(layer.ratio, 1);
            }));
      }));
  EXPECT_EQ(deepest, 2u);
}

TEST(Process, ExpectedTokensOfTheSmallModel) {
  const auto small_model = small::constant({1, 2}, {2, 1});
  const TreeShape shape{.drafts = 1, .length = 2};
  const auto tokens = [&](std::string_view name) {
    const auto decider = small::verifier(name).prove_on(small_model, shape);
    const auto process = small::verifier(name).process_on(small_model);
    return expected_tokens<Rows<Rational>, Rational>(
        {small::drafter("iid_paths"), *decider, process.get(), small_model, shape}, 4);
  };
  using Expected = std::vector<Rational>;
  EXPECT_EQ(tokens("token_path"), (Expected{{19, 9}, {38, 9}, {57, 9}, {76, 9}}));
  EXPECT_EQ(tokens("block"), (Expected{{20, 9}, {40, 9}, {60, 9}, {80, 9}}));
  EXPECT_EQ(tokens("greedy_block_without_carry"), (Expected{{21, 9}, {42, 9}, {63, 9}, {84, 9}}));
  // greedy_block emits more tokens than `block` in the first iteration, as many in the first two, and fewer in the
  // first three.
  EXPECT_EQ(tokens("greedy_block"), (Expected{{21, 9}, {40, 9}, {59, 9}, {78, 9}}));
}

TEST(Process, WhatIsNotWalkedWholeHasNoMean) {
  const auto small_model = small::constant({1, 2}, {2, 1});
  const TreeShape shape{.drafts = 1, .length = 2};
  const auto decider = small::verifier("token_path").prove_on(small_model, shape);
  const AnyTreeDrafter& drafter = small::drafter("iid_paths");
  for (const std::uint64_t leaves : {3u, 4u}) {  // The drafter has four paths; the verifier adds branches.
    const IteratedScheme<Rows<Rational>> scheme{drafter, *decider, nullptr, small_model, shape, {.leaves = leaves}};
    if (leaves == 4)
      EXPECT_EQ(expected_tokens(scheme, 1).front(), Rational(19, 9));
    else
      EXPECT_THROW(expected_tokens(scheme, 1), EnumerationCut);
    const auto distribution =
        explore_step_distribution<Rows<Rational>>(drafter, *decider, small_model, shape, 0, {.leaves = leaves});
    EXPECT_FALSE(distribution.complete);
    EXPECT_THROW(distribution.mean_accepted(), EnumerationCut);
  }
}

TEST(Process, ReferenceCases) {
  int cases = 0;
  for (const golden::PathCase& c : golden::path_cases()) {
    if (c.scheme != "greedy_block_carry") continue;
    const auto conditionals = c.model->conditionals();
    const auto decider = small::verifier("greedy_block").explore_on(conditionals, c.shape);
    const auto without = small::verifier("greedy_block_without_carry").explore_on(conditionals, c.shape);
    const auto process = small::verifier("greedy_block").process_on(conditionals);
    const int tokens = c.entry.at("process_N");
    const auto largest = [&](PathDecider<Rows<double>, Explorer<double>>& scheme, PathProcess<Rows<double>>* state) {
      const auto distribution = explore_process<Rows<double>, double>(
          {small::drafter("iid_paths"), scheme, state, conditionals, c.shape}, tokens);
      double error = 0;
      for (const auto& [prefix, probability] : distribution.emitted)
        error = std::max(error, std::abs(probability - target_probability(conditionals, 0, prefix)));
      return error;
    };
    // The sums have fewer than 2^10 products of a dozen factors: 2^10 * 12 * 2^-53 < 2e-12, in practice 1e-16.
    EXPECT_LT(largest(*decider, process.get()), 2e-12) << c.id;
    EXPECT_NEAR(largest(*without, nullptr), c.entry.at("no_carry_error").get<double>(), 2e-12) << c.id;
    const auto block = small::verifier("block").explore_on(conditionals, c.shape);
    const auto distribution =
        explore_step_distribution<Rows<double>>(small::drafter("iid_paths"), *block, conditionals, c.shape);
    EXPECT_NEAR(distribution.mean_accepted(), c.entry.at("E_tau_block").get<double>(), 2e-12) << c.id;
    ++cases;
  }
  EXPECT_EQ(cases, 2);
}

}  // namespace
}  // namespace draftproof
