#include <draftproof/captures/row.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <draftproof/sim/numeric/neumaier_sum.hpp>

#include <draftproof/tests/support/hostile.hpp>

namespace draftproof {
namespace {

using hostile::expect_input_error;
const RowPlace place{.file = "x.npz", .array = "target", .row = 3};

TEST(Row, IsNormalisedOnce) {
  const std::vector<double> row{0.25, 0.25, 0.5 + 4e-7};
  const auto law = check_row(row, place);
  EXPECT_NEAR(compensated_sum(law), 1, 1e-15);
  EXPECT_DOUBLE_EQ(law[0], 0.25 / (1 + 4e-7));
}

TEST(Row, NamesFileArrayRowAndToken) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  expect_input_error(
      [&] {
        check_row(std::vector{0.5, nan, 0.5}, place);
      },
      {"x.npz: target, row 3, token 1: found NaN"});
  expect_input_error([&] { check_row(std::vector{0.5, 0.75, -0.25}, place); }, {"row 3, token 2: found -0.25"});
  expect_input_error([&] { check_row(std::vector{infinity, 0.5}, place); }, {"row 3, token 0: found inf"});
  expect_input_error([&] { check_row(std::vector{0.5, -infinity}, place); }, {"row 3, token 1: found -inf"});
  expect_input_error([&] { check_row(std::vector{nan, nan}, place); }, {"row 3, token 0: found NaN"});
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

// The derivation in row.hpp: storing a law in float32 moves its sum by at most 6.0e-8.
TEST(Row, Float32RoundingOfALargeLawIsFarInsideTheTolerance) {
  std::vector<double> law(262144);
  for (std::size_t token = 0; token < law.size(); ++token)
    law[token] = std::pow(static_cast<double>(token + 1), -1.1);
  normalise(law);
  for (double& p : law) p = static_cast<double>(static_cast<float>(p));
  EXPECT_NO_THROW(check_row(law, place, 6.0e-8));
}

TEST(Row, SumIsCompensated) {
  // 1 + 2^20 terms of 2^-54: adding them one by one to 1 loses every one.
  std::vector<double> terms(1 + (1 << 20), std::ldexp(1.0, -54));
  terms[0] = 1;
  EXPECT_EQ(compensated_sum(terms), 1 + std::ldexp(1.0, -34));
}

}  // namespace
}  // namespace draftproof
