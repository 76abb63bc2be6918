// A quantised row sums to exactly 2^62, keeps zeros, and lies within the stated distance of the row.
#include <numeric>

#include <gtest/gtest.h>

#include <draftproof/sim/sampling/quantised_row.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

std::uint64_t sum(const std::vector<std::uint64_t>& mass) {
  return std::accumulate(mass.begin(), mass.end(), std::uint64_t{0});
}

TEST(QuantisedRow, SumsToTwoToTheSixtyTwo) {
  for (const auto& row : examples::awkward_rows()) EXPECT_EQ(sum(quantise(row)), row_total) << row.size();
}

TEST(QuantisedRow, SumsExactlyWhenTheDoublesSumToMoreOrLessThanOne) {
  for (const double defect : {-1e-7, -1e-15, 1e-15, 1e-7}) {
    const std::vector<double> row{0.25, 0.5 + defect, 0.25};
    const auto mass = quantise(row);
    EXPECT_EQ(sum(mass), row_total);
    EXPECT_EQ(mass[0], row_total / 4) << "the most probable token takes the defect";
    EXPECT_EQ(mass[1], row_total / 2);
  }
}

TEST(QuantisedRow, ZerosStayZero) {
  for (const auto& row : examples::awkward_rows()) {
    const auto mass = quantise(row);
    for (std::size_t x = 0; x < row.size(); ++x) EXPECT_TRUE(row[x] > 0 || mass[x] == 0) << x;
  }
}

TEST(QuantisedRow, RepresentableRowsAreUntouched) {
  EXPECT_EQ(quantise(std::vector<double>{1.0}), std::vector<std::uint64_t>{row_total});
  EXPECT_EQ(quantise(std::vector<double>{0.25, 0, 0.75}),
            (std::vector<std::uint64_t>{row_total / 4, 0, row_total / 4 * 3}));
}

// The header's bound V 2^-62 + |1 - sum|. An entry and its mass differ by less than one unit, an exact difference
// in the 64-bit mantissa of long double; the sums add at most V 2^-63 of rounding, relative.
TEST(QuantisedRow, TotalVariationIsWithinTheStatedBound) {
  for (const auto& row : examples::awkward_rows()) {
    const auto mass = quantise(row);
    long double distance = 0, total = 0;
    for (std::size_t x = 0; x < row.size(); ++x) {
      distance += std::fabs(static_cast<long double>(row[x]) * 0x1p62L - static_cast<long double>(mass[x]));
      total += row[x];
    }
    const long double size = static_cast<long double>(row.size());
    const long double bound = size + std::fabs(1 - total) * 0x1p62L;
    EXPECT_LE(distance / 2, bound * (1 + size * 0x1p-63L)) << row.size();
  }
}

}  // namespace
}  // namespace draftproof
