// Integer sums: the stated error, and draws that depend on the weights and the word only.
#include <utility>

#include <gtest/gtest.h>

#include <draftproof/sim/sampling/fixed_point_weights.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

TEST(FixedPoint, SumLiesBelowTheTrueSumByLessThanItsBound) {
  for (const auto& row : examples::awkward_rows()) {
    const auto size = static_cast<int>(row.size());
    long double exact = 0;  // rounding below V 2^-64
    for (const double weight : row) exact += weight;
    const double sum = fixed_sum(size, [&row](Token x) { return row[static_cast<std::size_t>(x)]; });
    // from_fixed rounds once more, to the nearest of numbers near 1.
    EXPECT_LE(sum, exact + size * 0x1p-64L + 0x1p-53L);
    EXPECT_GT(sum, exact - size * (0x1p-60L + 0x1p-64L) - 0x1p-53L);
  }
}

TEST(FixedPoint, SumDoesNotDependOnTheOrder) {
  const auto row = examples::random_row(5, 5000, 12, 0.1);
  const int size = 5000;
  const auto entry = [&row](Token x) { return row[static_cast<std::size_t>(x)]; };
  const double forward = fixed_sum(size, entry);
  EXPECT_EQ(forward, fixed_sum(size, [&](Token x) { return entry(size - 1 - x); }));
  EXPECT_EQ(forward, fixed_sum(size, [&](Token x) { return entry(static_cast<Token>((x * 1237LL) % size)); }));
}

TEST(FixedPoint, DrawIsTheLinearWalkOverIntegers) {
  for (const auto& row : examples::awkward_rows()) {
    const auto size = static_cast<int>(row.size());
    const auto entry = [&row](Token x) { return row[static_cast<std::size_t>(x)]; };
    Fixed total = 0;
    for (const double weight : row) total += to_fixed(weight);
    for (const std::uint64_t word : examples::some_words(6, 200)) {
      const auto at = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(total)));
      Fixed below = 0;
      Token expected = 0;
      while (below + to_fixed(entry(expected)) <= at) below += to_fixed(entry(expected++));
      const Token drawn = FixedWeights{size, entry}.draw(word);
      ASSERT_EQ(drawn, expected);
      ASSERT_GT(entry(drawn), 0) << "a token of weight zero";
    }
  }
}

TEST(FixedPoint, DrawFindsItsPartWhereTheyAreLongerThanABlock) {
  constexpr int size = 300001;  // more than 256 blocks: two a part
  const auto weight = [](Token x) { return x % 3 == 0 ? 0x1p-20 : 0x1p-21 * (x % 5); };
  Fixed total = 0;
  for (Token x = 0; x < size; ++x) total += to_fixed(weight(x));
  std::uint64_t visited = 0;
  const FixedWeights weights(size, weight, &visited);
  for (const std::uint64_t word : examples::some_words(8, 20)) {
    const auto at = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(total)));
    Token expected = 0;
    for (Fixed below = 0; (below += to_fixed(weight(expected))) <= at;) ++expected;
    ASSERT_EQ(weights.draw(word), expected);
    EXPECT_LE(std::exchange(visited, 0), size + 2048u);
  }
}

TEST(FixedPoint, NothingToDrawGivesNoToken) {
  EXPECT_EQ((FixedWeights{3, [](Token) { return 0.0; }}.draw(77)), no_token);
  EXPECT_EQ((FixedWeights{0, [](Token) { return 1.0; }}.draw(77)), no_token);
}

}  // namespace
}  // namespace draftproof
