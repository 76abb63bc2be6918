// Tabulated weights draw what a pass over the vocabulary draws, and give an enumeration the same weights.
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/sim/sampling/fixed_point_weights.hpp>
#include <draftproof/sim/sampling/tabulated_weights.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

TEST(CumulativeWeights, DrawAndWalkAsThePassDoes) {
  for (const auto& row : examples::awkward_rows()) {
    const auto entry = [&row](Token x) { return row[static_cast<std::size_t>(x)]; };
    const FixedWeights pass(static_cast<int>(row.size()), entry);
    const CumulativeWeights table(static_cast<int>(row.size()), entry);
    for (const std::uint64_t word : examples::some_words(11, 500)) ASSERT_EQ(table.draw(word), pass.draw(word));
    std::vector<std::pair<Token, double>> seen, wanted;
    table.for_each([&seen](Token x, double weight) { seen.emplace_back(x, weight); });
    pass.for_each([&wanted](Token x, double weight) { wanted.emplace_back(x, weight); });
    EXPECT_EQ(seen, wanted);
  }
}

TEST(CumulativeWeights, EndsOfTheWordAndWeightsBelowTheGrid) {
  // 2^-61 is 0 on the grid of 2^-60: enumerated, never drawn.
  const std::vector<double> row{0, 0x1p-61, 0.25, 0, 0.5, 0x1p-61};
  const auto entry = [&row](Token x) { return row[static_cast<std::size_t>(x)]; };
  const CumulativeWeights table(6, entry);
  EXPECT_EQ(table.draw(0), 2);
  EXPECT_EQ(table.draw(~std::uint64_t{0}), 4);
  int walked = 0;
  table.for_each([&walked](Token, double) { ++walked; });
  EXPECT_EQ(walked, 4);
}

TEST(CumulativeWeights, NothingToDrawGivesNoToken) {
  EXPECT_EQ((CumulativeWeights{3, [](Token) { return 0.0; }}.draw(77)), no_token);
  EXPECT_EQ((CumulativeWeights{0, [](Token) { return 1.0; }}.draw(77)), no_token);
  EXPECT_EQ((CumulativeWeights{3, [](Token) { return 0x1p-61; }}.draw(77)), no_token);
}

}  // namespace
}  // namespace draftproof
