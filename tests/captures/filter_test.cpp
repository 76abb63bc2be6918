#include <draftproof/captures/filter.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <draftproof/tests/support/hostile.hpp>

namespace draftproof {
namespace {

using hostile::expect_input_error;
using Law = std::vector<double>;

void expect_law(const Law& found, const Law& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t x = 0; x < found.size(); ++x) EXPECT_NEAR(found[x], wanted[x], 1e-15) << "token " << x;
}

TEST(Filter, DefaultLeavesALawUntouched) {
  const Law law{0.125, 0.5, 0.375};
  EXPECT_EQ(filtered_law(law, {}), law);
}

TEST(Filter, TemperatureIsAPowerOfTheLaw) {
  const Law wanted{1.0 / 14, 4.0 / 14, 9.0 / 14};
  expect_law(filtered_law({1.0 / 6, 2.0 / 6, 3.0 / 6}, {.temperature = 0.5}), wanted);
  expect_law(filtered_softmax(Law{std::log(1.0), std::log(2.0), std::log(3.0)}, {.temperature = 0.5}), wanted);
}

TEST(Filter, TemperatureZeroTakesTheFirstOfTheLikeliest) {
  expect_law(filtered_law({0.2, 0.4, 0.4}, {.temperature = 0}), {0, 1, 0});
  expect_law(filtered_softmax(Law{0, 7, 7}, {.temperature = 0}), {0, 1, 0});
}

TEST(Filter, TinyTemperatureDoesNotOverflow) {
  expect_law(filtered_softmax(Law{1e300, 2e300, -1e300}, {.temperature = 1e-300}), {0, 1, 0});
  expect_law(filtered_law({0.4, 0.6, 0}, {.temperature = 5e-324}), {0, 1, 0});
}

TEST(Filter, MinusInfinityIsProbabilityZero) {
  const double minus_infinity = -std::numeric_limits<double>::infinity();
  expect_law(filtered_softmax(Law{0, minus_infinity, 0}, {.temperature = 2}), {0.5, 0, 0.5});
}

TEST(Filter, TopKKeepsTheLowerIndexOfEquals) {
  expect_law(filtered_law({0.2, 0.3, 0.2, 0.3}, {.top_k = 3}), {0.25, 0.375, 0, 0.375});
  expect_law(filtered_law({0.2, 0.3, 0.2, 0.3}, {.top_k = 1}), {0, 1, 0, 0});
  expect_law(filtered_law({0.2, 0.3, 0.2, 0.3}, {.top_k = 9}), {0.2, 0.3, 0.2, 0.3});
}

TEST(Filter, TopPKeepsTheShortestRunThatReachesTheMass) {
  const Law law{0.125, 0.25, 0.5, 0.125};
  expect_law(filtered_law(law, {.top_p = 0.5}), {0, 0, 1, 0});
  expect_law(filtered_law(law, {.top_p = 0.51}), {0, 1.0 / 3, 2.0 / 3, 0});
  expect_law(filtered_law(law, {.top_p = 0.8}), {1.0 / 7, 2.0 / 7, 4.0 / 7, 0});
  expect_law(filtered_law(law, {.top_p = 1e-9}), {0, 0, 1, 0});
}

TEST(Filter, TopPIsOfWhatTopKLeft) {
  // After top-k 2 the masses are 2/3 and 1/3, so 0.6 is reached by the first alone.
  expect_law(filtered_law({0.125, 0.25, 0.5, 0.125}, {.top_k = 2, .top_p = 0.6}), {0, 0, 1, 0});
}

TEST(Filter, RefusesSettingsThatAreNone) {
  expect_input_error([] { check_filter({.temperature = -1}, "target"); }, {"target: found temperature -1"});
  expect_input_error([] { check_filter({.temperature = std::nan("")}, "target"); }, {"temperature nan"});
  expect_input_error([] { check_filter({.top_p = 0}, "target"); }, {"top-p 0"});
  expect_input_error([] { check_filter({.top_p = 1.5}, "target"); }, {"0 < top-p <= 1"});
}

}  // namespace
}  // namespace draftproof
