// A guide changes the time of a draw and never the token: compared with the plain bisection at words where tokens
// change.
#include <gtest/gtest.h>

#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

/// Words at the ends of every possible cell of a guide, and where thresholds cross a sum.
std::vector<std::uint64_t> parting_words(const RatioTable& table, const RatioTable::Residual& bare) {
  std::vector<std::uint64_t> words = examples::some_words(9, 2000);
  for (std::uint64_t cell = 0; cell < 1024; ++cell)
    for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1} << 11, ~std::uint64_t{0}})
      words.push_back((cell << 54) + offset);
  const double total = bare.total();
  for (std::size_t j = 0; j < std::min<std::size_t>(table.order().size(), 200); ++j)
    for (const double nudge : {-1.0, 0.0, 1.0}) {
      const double u = table.prefix_residual(j, bare.b()) / total + nudge * 0x1p-53;
      if (u >= 0 && u < 1) words.push_back(static_cast<std::uint64_t>(u * 0x1p53) << 11);
    }
  return words;
}

void expect_same_tokens(const RatioTable& table, RatioTable::Residual residual) {
  const RatioTable::Residual bare = residual;
  if (!(bare.total() > 0)) return;
  const ResidualGuide guide = residual.guide();
  residual.lead(&guide);
  for (const std::uint64_t word : parting_words(table, bare))
    ASSERT_EQ(residual.draw(word), bare.draw(word)) << "word " << word << " b " << bare.b();
}

TEST(ResidualGuide, LeadsToTheTokenOfTheBisection) {
  for (const auto& [p, q] :
       {std::pair{examples::random_row(1, 1000, 6), examples::random_row(2, 1000, 6)},
        {examples::random_row(3, 700, 2, 0.3), examples::random_row(4, 700, 9, 0.3)},
        {std::vector<double>{0.5, 0.25, 0.25}, std::vector<double>{0.25, 0.5, 0.25}},
        // Ratios so equal that the sums of a residual near them are roundings.
        {std::vector<double>(400, 1.0 / 400), examples::normalised(std::vector<double>(400, 3))}}) {
    const RatioTable table(p, q);
    for (const double b : {0.0, 0.5, 1.0, 1.25, 2.0, 7.0}) expect_same_tokens(table, table.residual(b));
    for (const double clip_ratio : {1.0, 1.5, 3.0})
      for (const double part : {0.3, 1.0}) expect_same_tokens(table, table.clipped(part * clip_ratio, clip_ratio));
  }
}

// 1000 tokens take ten comparisons; uniformly spread words with a guide leave about one. The words above are not
// spread, since they lie at the ends of cells.
TEST(ResidualGuide, LeavesFewSteps) {
  const RatioTable table(examples::random_row(1, 1000, 2), examples::random_row(2, 1000, 2));
  RatioTable::Residual residual = table.residual(1);
  const ResidualGuide guide = residual.guide();
  residual.lead(&guide);
  int steps = 0;
  constexpr int draws = 4096;
  for (std::uint64_t i = 0; i < draws; ++i) {
    auto search = residual.start(i << 52 | 0x123456789);
    for (; search.range.low < search.range.high; ++steps) residual.step(search);
  }
  EXPECT_LT(steps, 2 * draws);
}

}  // namespace
}  // namespace draftproof
