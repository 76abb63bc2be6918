// The compression of tables: sums of smooth functions over cells are preserved, tables get shorter, and few cells
// stay unchanged.
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/statistics/weighted_cells.hpp>

namespace draftproof {
namespace {

TEST(WeightedCells, KeepSumsOfFunctionsThatAreAnalyticForPositiveProbabilities) {
  std::vector<double> law;
  for (int i = 0; i < 6000; ++i) law.push_back(1e-4 * std::exp(i / 1500.0));
  std::vector<std::uint64_t> counts;
  for (std::size_t i = 0; i < law.size(); ++i) counts.push_back(i % 3);
  const WeightedCells cells = CellShortener(law).shorten(counts);
  ASSERT_LT(cells.size(), law.size() / 2);
  for (const int function : {0, 1, 2, 3}) {
    const auto value = [&](double w, double count) {
      return function == 0 ? 1 : function == 1 ? count * w : function == 2 ? std::log(w) : (count + 1) * 1e-4 / w;
    };
    long double direct = 0, size = 0, shortened = 0;
    for (std::size_t i = 0; i < law.size(); ++i) {
      direct += value(law[i], static_cast<double>(counts[i]));
      size += std::abs(value(law[i], static_cast<double>(counts[i])));
    }
    for (std::size_t i = 0; i < cells.size(); ++i)
      shortened += cells.weight[i] * value(cells.probability[i], cells.count[i]);
    // Bernstein's 5e-16 M, M up to eleven times a value for 1 / w, and as much for the roundings of weights and
    // nodes.
    EXPECT_NEAR(static_cast<double>((shortened - direct) / size), 0, 1.2e-14) << function;
  }
}

TEST(WeightedCells, LeaveFewCellsAndLargeCountsAlone) {
  const std::vector<double> law{0.1, 0.1, 0.1, 0.2, 0.5};
  const std::vector<std::uint64_t> counts{4, 4, 4, 900, 1};
  const WeightedCells cells = CellShortener(law).shorten(counts);
  EXPECT_EQ(cells.probability, law);
  EXPECT_EQ(cells.weight, std::vector<double>(5, 1));
  EXPECT_EQ(cells.count, (std::vector<double>{4, 4, 4, 900, 1}));
}

}  // namespace
}  // namespace draftproof
