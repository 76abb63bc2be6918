// The guide counts the ratios above b as a linear scan does.
#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include <draftproof/sim/distributions/ratio_guide.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void expect_linear_count(std::vector<double> ratios) {
  std::sort(ratios.begin(), ratios.end(), std::greater<double>{});
  const RatioGuide guide(ratios);
  std::vector<double> places{0, 1e-300, 0.5, 1, 1 + 1e-15, 3, 1e300};
  for (const double ratio : ratios)
    if (ratio < infinity)
      for (const double b : {ratio, std::nextafter(ratio, 0), std::nextafter(ratio, infinity)})
        if (b < infinity) places.push_back(b);
  for (const double b : places) {
    const auto linear = std::count_if(ratios.begin(), ratios.end(), [b](double ratio) { return ratio > b; });
    ASSERT_EQ(guide.prefix_length(ratios, b), static_cast<std::size_t>(linear))
        << "b " << b << " of " << ratios.size();
  }
}

TEST(RatioGuide, CountsNothingOfNothing) { expect_linear_count({}); }

TEST(RatioGuide, CountsTies) { expect_linear_count({2, 2, 2, 1, 1, 0.5, 0.5}); }

TEST(RatioGuide, CountsInfinityAndZero) {
  expect_linear_count({infinity, infinity, 3, 0, 0});
  expect_linear_count({infinity});
  expect_linear_count({0, 0, 0});
}

TEST(RatioGuide, CountsClusters) {
  std::vector<double> ratios;
  for (int i = 0; i < 500; ++i) ratios.push_back(1 + i * 0x1p-52);
  expect_linear_count(ratios);
  for (double& ratio : ratios) ratio *= 1e-200;
  expect_linear_count(ratios);
}

TEST(RatioGuide, CountsEveryCellBoundary) {
  // Where b / (1 + b) is a multiple of the cell width.
  std::vector<double> ratios;
  for (int j = 0; j < 63; ++j) ratios.push_back(j / (64.0 - j));
  expect_linear_count(ratios);
}

TEST(RatioGuide, CountsRandomRatios) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto p = examples::random_row(seed, 200, 4, 0.2), q = examples::random_row(seed + 100, 200, 4, 0.2);
    std::vector<double> ratios;
    for (std::size_t x = 0; x < p.size(); ++x)
      if (p[x] > 0 || q[x] > 0) ratios.push_back(p[x] / q[x]);
    expect_linear_count(ratios);
  }
}

}  // namespace
}  // namespace draftproof
