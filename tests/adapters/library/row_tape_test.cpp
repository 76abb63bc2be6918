#include <draftproof/adapters/library/row_tape.hpp>

#include <cmath>

#include <gtest/gtest.h>

namespace draftproof::adapters {
namespace {

TEST(RowTape, GivesCoinsOnTheirGrid) {
  const std::vector<double> values{0x1p-24 + 0x1p-50, 1 - 0x1p-53, 1 - 0x1p-53, -3};
  RowTape tape(values);
  EXPECT_EQ(tape.coin(24, "accept"), 0x1p-24);
  EXPECT_EQ(tape.coin(24, ""), 1 - 0x1p-24);
  EXPECT_EQ(tape.coin(53, ""), 1 - 0x1p-53);
  EXPECT_EQ(tape.coin(53, ""), 0) << "a forced value is no coin";
  EXPECT_EQ(tape.verdict(), RowStatus::ok);
  EXPECT_EQ(tape.draws().at(0), (Draw{.kind = DrawKind::coin, .size = 0, .bits = 24, .stream = "accept"}));
  EXPECT_EQ(tape.draws().at(2).bits, 53);
}

TEST(RowTape, PicksTheFirstCellBeyondTheValue) {
  const std::vector<double> weights{0, 1, 0, 3, 0};
  const std::vector<double> values{0, 0.25 - 0x1p-53, 0.25, 1 - 0x1p-53, -5, -1};
  RowTape tape(values);
  for (const int cell : {1, 1, 3, 3, 4, 0}) EXPECT_EQ(tape.pick(weights, "residual"), cell);
  EXPECT_EQ(tape.verdict(), RowStatus::ok);
  EXPECT_EQ(tape.draws().at(0),
            (Draw{.kind = DrawKind::pick, .size = 5, .bits = 0, .stream = "residual", .weights = weights}));
}

TEST(RowTape, LastCellTakesTheRoundingOfTheTotal) {
  const std::vector<double> weights{0.1, 0.2, 0.7, 0};  // 0.1 + 0.2 + 0.7 rounds
  for (double v = 1; v > 1 - 0x1p-50; v = std::nextafter(v, 0)) {
    const std::vector<double> values{std::nextafter(v, 0)};
    RowTape tape(values);
    EXPECT_EQ(tape.pick(weights, ""), 2);
  }
}

TEST(RowTape, RefusesWeightsWithoutMass) {
  for (const std::vector<double>& weights :
       {std::vector<double>{0, 0}, {1, -1}, {1, NAN}, {1, INFINITY}, {1e308, 1e308}}) {
    const std::vector<double> values{0.5};
    RowTape tape(values);
    EXPECT_EQ(tape.pick(weights, ""), -1);
    EXPECT_EQ(tape.verdict(), RowStatus::no_mass);
    EXPECT_EQ(tape.draws().size(), 1u) << "the place is taken, the weights are shown";
  }
}

TEST(RowTape, RunsARaceOverItsPlaces) {
  const std::vector<double> values{0, 1 - std::exp(-1.0), -7.5, 0.5};
  RowTape tape(values);
  std::vector<double> clocks(3);
  tape.race(clocks, "gumbel");
  EXPECT_EQ(clocks[0], 0);
  EXPECT_NEAR(clocks[1], 1, 1e-15);  // exp and log each round once
  EXPECT_EQ(clocks[2], 7.5);
  ASSERT_EQ(tape.draws().size(), 3u);
  EXPECT_EQ(tape.draws()[0].size, 3);
  EXPECT_EQ(tape.draws()[1].size, 0) << "the first clock alone has the size of the race";
  tape.race(clocks, "gumbel");
  EXPECT_EQ(tape.verdict(), RowStatus::tape_short);
  EXPECT_EQ(tape.draws().size(), 4u);
  EXPECT_EQ(clocks[2], 1);
}

TEST(RowTape, DrawsIntegers) {
  const std::vector<double> values{0, 0.5, 1 - 0x1p-53, -3, -4};
  RowTape tape(values);
  for (const int n : {0, 1, 2, 2}) EXPECT_EQ(tape.integer(3, ""), n);
  EXPECT_EQ(tape.verdict(), RowStatus::ok);
  EXPECT_EQ(tape.integer(3, ""), 0);
  EXPECT_EQ(tape.verdict(), RowStatus::failed);
  EXPECT_EQ(tape.message(), "place 4 of the tape: got forced integer 3, expected 0 .. 2");
}

TEST(RowTape, RefusesWhatNoTapeHas) {
  const std::vector<double> values{1.0, NAN, -9};
  const auto message = [&](const auto& draw) {
    RowTape tape(values);
    draw(tape);
    EXPECT_EQ(tape.verdict(), RowStatus::failed);
    return tape.message();
  };
  EXPECT_EQ(message([](RowTape& tape) { tape.coin(24, ""); }),
            "place 0 of the tape: got 1 for a coin, expected a value below 1");
  EXPECT_EQ(message([](RowTape& tape) { tape.coin(54, ""); }), "draw 0: got a uniform of 54 bits, expected 1 .. 53");
  EXPECT_EQ(message([](RowTape& tape) { tape.pick({}, ""); }), "draw 0: got a pick of no cells, expected at least 1");
  EXPECT_EQ(message([](RowTape& tape) { tape.integer(0, ""); }),
            "draw 0: got an integer below 0, expected at least 1");
}

TEST(RowTape, ShortTapesGiveValuesAndSaySo) {
  RowTape tape(std::span<const double>{});
  const std::vector<double> weights{0, 2, 1};
  EXPECT_EQ(tape.coin(24, ""), 0);
  EXPECT_EQ(tape.pick(weights, ""), 1);
  EXPECT_EQ(tape.integer(4, ""), 0);
  EXPECT_EQ(tape.verdict(), RowStatus::tape_short);
  EXPECT_TRUE(tape.draws().empty());
  EXPECT_EQ(tape.message(), "the tape has 0 places, the program draws more");
}

}  // namespace
}  // namespace draftproof::adapters
