#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include <draftproof/doors/library/load_library.hpp>
#include <draftproof/tests/doors/library/served_call.hpp>

namespace draftproof::doors {
namespace {

const Input example_input{.p = {{0.5, 0.25, 0.25}, {0.25, 0.5, 0.25}, {0.125, 0.375, 0.5}},
                          .q = {{0.25, 0.25, 0.5}, {0.5, 0.25, 0.25}},
                          .drafts = {2, 0}};

std::vector<Token> example_tokens(const std::vector<double>& tape, RowStatus wanted = RowStatus::ok) {
  const auto door = load_library(DRAFTPROOF_DOOR_EXAMPLE);
  ServedCall call(Level::chain, {example_input}, Dtype::float32);
  ServedResult result = call.scripted(*door, {tape});
  EXPECT_EQ(result.status.at(0), static_cast<std::int32_t>(wanted));
  EXPECT_EQ(result.log.counts().size(), 1u);
  return tokens_in(result, 0);
}

TEST(DoorExample, DeclaresItself) {
  const auto door = load_library(DRAFTPROOF_DOOR_EXAMPLE);
  EXPECT_EQ(door->declaration().name, "token_path");
  EXPECT_TRUE(door->declaration().can(Randomness::scripted) && door->declaration().can(Randomness::seeded));
  EXPECT_FALSE(door->declaration().has("draft"));
}

// p / q is 1/2 for draft 2 at the root and 1/2 for draft 0 after it; residuals are (1, 0, 0) and (0, 1, 0).
TEST(DoorExample, DecidesOnScriptedNumbers) {
  EXPECT_EQ(example_tokens({0.5, 0, 0}), (std::vector<Token>{0}));
  EXPECT_EQ(example_tokens({0.5 - 0x1p-24, 0.5, 0.9}), (std::vector<Token>{2, 1}));
  EXPECT_EQ(example_tokens({0, 0, 0}), (std::vector<Token>{2, 0, 0}));
  EXPECT_EQ(example_tokens({0, 0, 0.125}), (std::vector<Token>{2, 0, 1}));
  EXPECT_EQ(example_tokens({0, 0, -3}), (std::vector<Token>{2, 0, 2}));
  EXPECT_EQ(example_tokens({0, 0}, RowStatus::tape_short), std::vector<Token>{});
}

TEST(DoorExample, LogsItsDraws) {
  const auto door = load_library(DRAFTPROOF_DOOR_EXAMPLE);
  ServedCall call(Level::chain, {example_input, example_input}, Dtype::float32);
  const ServedResult result = call.scripted(*door, {{0.5, 0, 0}, {0, 0, 0}});
  const auto counts = result.log.counts(), draws = result.log.draws();
  EXPECT_EQ(std::vector(counts.begin(), counts.end()), (std::vector{2, 3}));
  EXPECT_EQ(result.log.streams(), (std::vector<std::string>{"accept", "residual", "bonus"}));
  EXPECT_EQ(std::vector(draws.begin(), draws.begin() + 8), (std::vector{1, 0, 24, 0, 2, 3, 0, 1}));
  const auto weights = result.log.weights();
  EXPECT_EQ(std::vector(weights.begin(), weights.end()), (std::vector{0.25, 0.0, 0.0, 0.125, 0.375, 0.5}));
}

TEST(DoorExample, RaggedRowsEndEarly) {
  const auto door = load_library(DRAFTPROOF_DOOR_EXAMPLE);
  const Input one{.p = {example_input.p[0], example_input.p[1]}, .q = {example_input.q[0]}, .drafts = {2}},
      none{.p = {example_input.p[0]}, .q = {}, .drafts = {}};
  ServedCall call(Level::chain, {example_input, one, none}, Dtype::float32);
  ServedResult result = call.scripted(*door, {{0, 0, 0}, {0, 0.9, 0}, {0.6, 0, 0}});
  EXPECT_EQ(tokens_in(result, 0), (std::vector<Token>{2, 0, 0}));
  EXPECT_EQ(tokens_in(result, 1), (std::vector<Token>{2, 2}));
  EXPECT_EQ(tokens_in(result, 2), (std::vector<Token>{1}));
}

// The first token of a chain of drafts from q has law p. Of n = 2^18 seeds, a frequency lies 6 standard deviations,
// at most 6 / (2 sqrt(n)) = 0.006, from p with probability below 2e-9. Seeds are fixed.
TEST(DoorExample, SeedsGiveTheTarget) {
  const auto door = load_library(DRAFTPROOF_DOOR_EXAMPLE);
  constexpr int rows = 4096, batches = 64;
  std::map<Token, double> seen;
  const std::vector<double>& q = example_input.q[0];
  for (int batch = 0; batch < batches; ++batch) {
    std::vector<Input> inputs;
    std::vector<std::int64_t> seeds;
    for (int row = 0; row < rows; ++row) {
      const double place = (row + 0.5) / rows;  // drafts in proportion to q
      inputs.push_back(example_input);
      inputs.back().drafts[0] = place < q[0] ? 0 : place < q[0] + q[1] ? 1 : 2;
      seeds.push_back(std::int64_t{batch} * rows + row);
    }
    ServedCall call(Level::chain, inputs, Dtype::float32);
    ServedResult result = call.seeded(*door, seeds);
    ServedResult again = call.seeded(*door, seeds);
    EXPECT_EQ(result.tokens, again.tokens);
    for (int row = 0; row < rows; ++row) seen[tokens_in(result, row).at(0)] += 1.0 / (rows * batches);
  }
  for (Token x = 0; x < 3; ++x) EXPECT_NEAR(seen[x], example_input.p[0][static_cast<std::size_t>(x)], 0.006);
}

}  // namespace
}  // namespace draftproof::doors
