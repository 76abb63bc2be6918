// The textbook draw by running sums: positive weights only, and a linear search by another route.
#include <gtest/gtest.h>

#include <draftproof/sim/sampling/function_weights.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

TEST(PlainPass, NeverDrawsAZeroToken) {
  for (const auto& row : examples::awkward_rows()) {
    const FunctionWeights weights(static_cast<int>(row.size()),
                                  [&](Token x) { return row[static_cast<std::size_t>(x)]; });
    for (const std::uint64_t word : examples::some_words(8, 100)) {
      const Token drawn = weights.draw(word);
      ASSERT_GE(drawn, 0);
      ASSERT_GT(row[static_cast<std::size_t>(drawn)], 0);
    }
  }
}

TEST(PlainPass, ThresholdOnABoundaryBelongsToTheUpperToken) {
  // Quarters: every running sum is exact.
  const std::vector<double> row{0.25, 0.0, 0.25, 0.5};
  const FunctionWeights weights(4, [&](Token x) { return row[static_cast<std::size_t>(x)]; });
  EXPECT_EQ(weights.draw(0), 0);
  EXPECT_EQ(weights.draw((std::uint64_t{1} << 62) - 1), 0);
  EXPECT_EQ(weights.draw(std::uint64_t{1} << 62), 2);
  EXPECT_EQ(weights.draw((std::uint64_t{1} << 63) - 1), 2);
  EXPECT_EQ(weights.draw(std::uint64_t{1} << 63), 3);
  EXPECT_EQ(weights.draw(~std::uint64_t{0}), 3);
}

TEST(PlainPass, AllZeroGivesNoToken) {
  EXPECT_EQ((FunctionWeights(3, [](Token) { return 0.0; }).draw(5)), no_token);
}

}  // namespace
}  // namespace draftproof
