// Tests that rows are checked and normalised once when they are read, filtered as engines filter them, and rounded to
// stored formats. The expected rounding is computed by a conversion to float or by operations on bits.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <draftproof/captures/filter.hpp>
#include <draftproof/captures/row.hpp>
#include <draftproof/captures/stored_format.hpp>
#include <draftproof/sim/numeric/short_float.hpp>
#include <draftproof/sim/numeric/sums.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/tests/support/hostile.hpp>

namespace draftproof {
namespace {

using hostile::expect_input_error;
const RowPlace place{.file = "x.npz", .array = "target", .row = 3};

TEST(Row, IsNormalisedOnce) {
  const std::vector<double> row{0.25, 0.25, 0.5 + 4e-7};
  const auto distribution = check_row(row, place);
  EXPECT_NEAR(compensated_sum(distribution), 1, 1e-15);
  EXPECT_DOUBLE_EQ(distribution[0], 0.25 / (1 + 4e-7));
}

TEST(Row, NamesFileArrayRowAndToken) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  expect_input_error(
      [&] {
        check_row(std::vector{0.5, nan, 0.5}, place);
      },
      {"x.npz: target, row 3, token 1: got NaN"});
  expect_input_error([&] { check_row(std::vector{0.5, 0.75, -0.25}, place); }, {"row 3, token 2: got -0.25"});
  expect_input_error([&] { check_row(std::vector{infinity, 0.5}, place); }, {"row 3, token 0: got inf"});
  expect_input_error([&] { check_row(std::vector{0.5, -infinity}, place); }, {"row 3, token 1: got -inf"});
  expect_input_error([&] { check_row(std::vector{nan, nan}, place); }, {"row 3, token 0: got NaN"});
}

TEST(Row, RefusesSumsBeyondTheTolerance) {
  EXPECT_NO_THROW(check_row(std::vector{0.5, 0.5 + 0.9e-6}, place));
  expect_input_error(
      [&] {
        check_row(std::vector{0.5, 0.5 + 1.1e-6}, place);
      },
      {"x.npz: target, row 3", "sum 1.0000011"});
  expect_input_error([&] { check_row(std::vector{1e308, 1e308, 1e308}, place); }, {"sum"});
  expect_input_error([&] { check_row(std::vector<double>{}, place); }, {"sum 0"});
}

// row.hpp derives the bound of this test: storing a distribution in float32 changes its sum by at most 6.0e-8.
TEST(Row, Float32RoundingOfALargeDistributionIsFarInsideTheTolerance) {
  std::vector<double> distribution(262144);
  for (std::size_t token = 0; token < distribution.size(); ++token)
    distribution[token] = std::pow(static_cast<double>(token + 1), -1.1);
  normalise(distribution);
  for (double& p : distribution) p = static_cast<double>(static_cast<float>(p));
  EXPECT_NO_THROW(check_row(distribution, place, 6.0e-8));
}

TEST(Row, SumIsCompensated) {
  // A plain sum that starts at 1 loses each of the 2^20 terms of 2^-54, because 1 + 2^-54 rounds to 1.
  std::vector<double> terms(1 + (1 << 20), std::ldexp(1.0, -54));
  terms[0] = 1;
  EXPECT_EQ(compensated_sum(terms), 1 + std::ldexp(1.0, -34));
}

using Distribution = std::vector<double>;

void expect_distribution(const Distribution& found, const Distribution& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t x = 0; x < found.size(); ++x) EXPECT_NEAR(found[x], wanted[x], 1e-15) << "token " << x;
}

TEST(Filter, DefaultLeavesADistributionUntouched) {
  const Distribution distribution{0.125, 0.5, 0.375};
  EXPECT_EQ(filtered_distribution(distribution, {}), distribution);
}

TEST(Filter, TemperatureIsAPowerOfTheDistribution) {
  const Distribution wanted{1.0 / 14, 4.0 / 14, 9.0 / 14};
  expect_distribution(filtered_distribution({1.0 / 6, 2.0 / 6, 3.0 / 6}, {.temperature = 0.5}), wanted);
  expect_distribution(
      filtered_softmax(Distribution{std::log(1.0), std::log(2.0), std::log(3.0)}, {.temperature = 0.5}), wanted);
}

TEST(Filter, TemperatureZeroTakesTheFirstOfTheLikeliest) {
  expect_distribution(filtered_distribution({0.2, 0.4, 0.4}, {.temperature = 0}), {0, 1, 0});
  expect_distribution(filtered_softmax(Distribution{0, 7, 7}, {.temperature = 0}), {0, 1, 0});
}

TEST(Filter, TinyTemperatureDoesNotOverflow) {
  expect_distribution(filtered_softmax(Distribution{1e300, 2e300, -1e300}, {.temperature = 1e-300}), {0, 1, 0});
  expect_distribution(filtered_distribution({0.4, 0.6, 0}, {.temperature = 5e-324}), {0, 1, 0});
}

TEST(Filter, MinusInfinityIsProbabilityZero) {
  const double minus_infinity = -std::numeric_limits<double>::infinity();
  expect_distribution(filtered_softmax(Distribution{0, minus_infinity, 0}, {.temperature = 2}), {0.5, 0, 0.5});
}

TEST(Filter, TopKKeepsTheLowerIndexOfEquals) {
  expect_distribution(filtered_distribution({0.2, 0.3, 0.2, 0.3}, {.top_k = 3}), {0.25, 0.375, 0, 0.375});
  expect_distribution(filtered_distribution({0.2, 0.3, 0.2, 0.3}, {.top_k = 1}), {0, 1, 0, 0});
  expect_distribution(filtered_distribution({0.2, 0.3, 0.2, 0.3}, {.top_k = 9}), {0.2, 0.3, 0.2, 0.3});
}

TEST(Filter, TopPKeepsTheShortestRunThatReachesTheMass) {
  const Distribution distribution{0.125, 0.25, 0.5, 0.125};
  expect_distribution(filtered_distribution(distribution, {.top_p = 0.5}), {0, 0, 1, 0});
  expect_distribution(filtered_distribution(distribution, {.top_p = 0.51}), {0, 1.0 / 3, 2.0 / 3, 0});
  expect_distribution(filtered_distribution(distribution, {.top_p = 0.8}), {1.0 / 7, 2.0 / 7, 4.0 / 7, 0});
  expect_distribution(filtered_distribution(distribution, {.top_p = 1e-9}), {0, 0, 1, 0});
  expect_distribution(filtered_distribution({0.125, 0.25, 0.5, 0.125}, {.min_p = 0.5}), {0, 1.0 / 3, 2.0 / 3, 0});
  expect_distribution(filtered_distribution({0.125, 0.25, 0.5, 0.125}, {.temperature = 0.5, .min_p = 0.5}),
                      {0, 0, 1, 0});
}

TEST(Filter, TopPIsOfWhatTopKLeft) {
  // After top-k 2 the masses are 2/3 and 1/3, so the first token alone reaches 0.6.
  expect_distribution(filtered_distribution({0.125, 0.25, 0.5, 0.125}, {.top_k = 2, .top_p = 0.6}), {0, 0, 1, 0});
}

TEST(Filter, RefusesSettingsThatAreNone) {
  expect_input_error([] { check_filter({.temperature = -1}, "target"); }, {"target: got temperature -1"});
  expect_input_error([] { check_filter({.temperature = std::nan("")}, "target"); }, {"temperature nan"});
  expect_input_error([] { check_filter({.top_p = 0}, "target"); }, {"top-p 0"});
  expect_input_error([] { check_filter({.top_p = 1.5}, "target"); }, {"0 < top-p <= 1"});
  expect_input_error([] { check_filter({.min_p = -0.1}, "target"); }, {"min-p -0.1", "0 <= min-p <= 1"});
}

/// Returns the float rounded to its upper 16 bits, to nearest, ties to even, as engines convert to bf16.
double bf16_by_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000);
}

TEST(StoredFormat, Float32IsTheHardwares) {
  for (std::uint64_t i = 0; i < 2000; ++i)
    for (const int power : {0, -30, -125, -127, -140, -149, -151}) {
      const double value = std::ldexp(examples::uniform(7, i), power);
      EXPECT_EQ(float32.round(value), static_cast<double>(static_cast<float>(value))) << value;
    }
  EXPECT_EQ(float32.round(0.0), 0.0);
  EXPECT_EQ(float32.round(1 + 0x1p-24), 1.0) << "a tie to even";
  EXPECT_EQ(float32.round(1 + 0x1.8p-23), 1 + 0x1p-22) << "a tie to even";
}

TEST(StoredFormat, Bfloat16IsHalfOfAFloat) {
  for (std::uint64_t i = 0; i < 2000; ++i)
    for (const int power : {0, -30, -126, -130, -134}) {
      const float value = std::ldexp(static_cast<float>(examples::uniform(8, i)), power);
      EXPECT_EQ(bfloat16.round(double{value}), bf16_by_bits(value)) << value;
    }
}

TEST(StoredFormat, Float16HasTenBitsAndStopsAtTwoToTheMinus24) {
  EXPECT_EQ(float16.round(1 + 0x1p-10), 1 + 0x1p-10);
  EXPECT_EQ(float16.round(1 + 0x1p-11), 1.0);
  EXPECT_EQ(float16.round(0x1p-24), 0x1p-24);
  EXPECT_EQ(float16.round(0x1p-25), 0.0) << "a tie to even";
  EXPECT_EQ(float16.round(0x1.8p-25), 0x1p-24);
  EXPECT_EQ(float16.round(0x1.3p-20), 0x1.3p-20);
  EXPECT_EQ(float16.round(0x1.38p-21), 0x1.4p-21) << "denormals have the spacing 2^-24";
}

TEST(StoredFormat, RoundsAsTheStorageTypesDo) {
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const double value = std::ldexp(examples::uniform(3, i), -static_cast<int>(i % 140));
    ASSERT_EQ(bfloat16.round(value), static_cast<double>(Bfloat16(value))) << value;
    ASSERT_EQ(float16.round(value), static_cast<double>(Half(value))) << value;
  }
}

TEST(StoredFormat, RoundsEveryRow) {
  const RowPair rows = bfloat16.round(RowPair{{1 - 0x1p-12, 0x1p-12}, {{0.5, 0.5}, {0.3, 0.7}}});
  EXPECT_EQ(rows.target, (std::vector{1.0, 0x1p-12}));
  EXPECT_EQ(rows.proposals[0], (std::vector{0.5, 0.5}));
  EXPECT_EQ(rows.proposals[1], (std::vector{bfloat16.round(0.3), bfloat16.round(0.7)}));
  EXPECT_NE(rows.proposals[1][0], 0.3);
}

}  // namespace
}  // namespace draftproof
