// Tests of plain rows, of the table sorted by p / q, and of the guides that shorten its searches.
#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/distributions/ratio_bins.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

const Rows<Rational> rational_rows({{1, 2}, {1, 4}, {1, 4}, 0},
                                   {{{1, 8}, {1, 2}, 0, {3, 8}}, {{1, 4}, {1, 4}, {1, 4}, {1, 4}}});

std::vector<Rational> entries(const auto& weights) {
  std::vector<Rational> row(4, 0);
  weights.for_each([&](Token x, const Rational& weight) { row[static_cast<std::size_t>(x)] = weight; });
  return row;
}

TEST(Rows, ResidualIsThePositivePart) {
  EXPECT_EQ(entries(rational_rows.residual({1, 2})), (std::vector<Rational>{{7, 16}, 0, {1, 4}, 0}));
  EXPECT_EQ(rational_rows.residual_mass({1, 2}), Rational(11, 16));
  EXPECT_EQ(rational_rows.residual_mass(0), 1);
}

TEST(Rows, ClippedBendsAtTheKnee) {
  // b = 1, clip_ratio = 2: p / 2 is below q only on token 1 (1/8 against 1/2).
  EXPECT_EQ(entries(rational_rows.clipped(1, 2)), (std::vector<Rational>{{3, 8}, {1, 8}, {1, 4}, 0}));
}

TEST(Rows, EveryDraftHasItsRow) {
  EXPECT_EQ(entries(rational_rows.row(1)), std::vector<Rational>(4, {1, 4}));
  const Token seen[] = {3, 0};
  EXPECT_EQ(entries(rational_rows.row_without(0, seen, 2)), (std::vector<Rational>{0, {1, 2}, 0, 0}));
  EXPECT_EQ(rational_rows.mass_without(0, seen, 2), Rational(1, 2));
  EXPECT_EQ(rational_rows.mass_without(1, seen, 2), Rational(1, 2));
}

TEST(Rows, OneProposalServesAllDrafts) {
  const Rows<Rational> one({1, 0}, std::vector<Rational>{{1, 3}, {2, 3}});
  EXPECT_EQ(one.proposal(1, 5), Rational(2, 3));
}

TEST(Rows, TopRanksByProposalThenId) {
  EXPECT_EQ(rational_rows.kth_most_probable(0), 1);
  EXPECT_EQ(rational_rows.kth_most_probable(1), 3);
  const Rows<Rational> ties({1, 0, 0}, std::vector<Rational>{{1, 3}, {1, 3}, {1, 3}});
  for (int j = 0; j < 3; ++j) EXPECT_EQ(ties.kth_most_probable(j), j);
}

// Tests of the sorted table: its values equal their definition, computed token by token in long double.

struct Pair {
  std::vector<double> p, q;
};

std::vector<Pair> pairs() {
  using examples::normalised;
  std::vector<Pair> pairs{{{0.5, 0.5}, {0.5, 0.5}},
                          {{1, 0, 0}, {0.2, 0.5, 0.3}},
                          {{0, 0.7, 0.3}, {1, 0, 0}},
                          {{0.5, 0.5, 0, 0}, {0, 0, 0.6, 0.4}},
                          {{0.5, 0, 0.3, 0.2, 0}, {0.3, 0.3, 0, 0.4, 0}},
                          {normalised({1, 2, 3, 1, 2, 3}), normalised({2, 4, 6, 1, 2, 3})}};
  for (std::uint64_t seed = 0; seed < 6; ++seed)
    pairs.push_back({examples::random_row(seed, 50 + 40 * seed, 2.0 + static_cast<double>(seed), 0.2),
                     examples::random_row(seed + 50, 50 + 40 * seed, 3, 0.2)});
  return pairs;
}

const std::vector<double> places{0, 1e-9, 0.25, 0.5, 0.75, 1, 1.25, 2, 3.5, 8};
constexpr double no_knee = std::numeric_limits<double>::infinity();

/// Returns a residual weight from its definition: p - b min(q, p / clip_ratio), or (p - b q)+ if there is no
/// clip_ratio.
long double weight(const RatioTable& table, Token x, double b, double clip_ratio) {
  const long double p = table.target(x), q = table.proposal(x);
  return clip_ratio < no_knee ? p - b * std::min<long double>(q, p / clip_ratio)
                              : std::max<long double>(p - b * q, 0);
}

// The prefix sums P and Q are at most 1 and rounded to double; b Q and the difference are rounded once each. The sum of
// these roundings is (1 + 3b) 2^-53. The entries of the reference sum are rounded too, by 2^-54 of their size, in total
// (1 + b) 2^-54.
double tolerance(double b) { return (2 + 4 * b) * 0x1p-53; }

TEST(RatioTable, ResidualMassIsTheSumOfPositiveParts) {
  for (const auto& [p, q] : pairs()) {
    const RatioTable table(p, q);
    for (const double b : places) {
      long double sum = 0;
      for (Token x = 0; x < table.vocabulary(); ++x) sum += weight(table, x, b, no_knee);
      EXPECT_NEAR(table.residual_mass(b), static_cast<double>(sum), tolerance(b)) << "b " << b;
    }
  }
}

TEST(RatioTable, OrderIsByFallingRatioAndPrefixesAddUp) {
  for (const auto& [p, q] : pairs()) {
    const RatioTable table(p, q);
    const auto order = table.order();
    for (std::size_t j = 0; j + 1 < order.size(); ++j) {
      const long double left = static_cast<long double>(table.target(order[j])) * table.proposal(order[j + 1]);
      const long double right = static_cast<long double>(table.target(order[j + 1])) * table.proposal(order[j]);
      EXPECT_GE(left, right * (1 - 0x1p-50L)) << "position " << j;
    }
    ASSERT_EQ(table.prefix().size(), order.size() + 1);
    EXPECT_EQ(table.prefix().back().target, 1);
    EXPECT_EQ(table.prefix().back().proposal, 1);
  }
}

/// Expects that each draw is the token at which the running sum of weights in table order exceeds u times the total.
template <class W>
void expect_draws(const RatioTable& table, const W& weights, double b, double clip_ratio) {
  std::vector<long double> running{0};
  for (const Token x : table.order()) running.push_back(running.back() + weight(table, x, b, clip_ratio));
  const double total = static_cast<double>(running.back());
  for (const std::uint64_t word : examples::some_words(3, 300)) {
    const Token drawn = weights.draw(word);
    // Such a small residual consists of rounding errors, so its draws are not compared.
    if (total <= tolerance(b)) continue;
    ASSERT_NE(drawn, no_token);
    const auto j = static_cast<std::size_t>(std::find(table.order().begin(), table.order().end(), drawn) -
                                            table.order().begin());
    ASSERT_LT(j, table.order().size());
    const double at = unit_interval(word) * total;
    ASSERT_GT(weight(table, drawn, b, clip_ratio), 0) << "token " << drawn << " b " << b;
    // The bound is doubled because the tail factor 1 - b / clip_ratio is rounded too.
    ASSERT_GE(at, static_cast<double>(running[j]) - 2 * tolerance(b));
    ASSERT_LE(at, static_cast<double>(running[j + 1]) + 2 * tolerance(b));
  }
}

TEST(RatioTable, ResidualDrawsFollowTheRunningSums) {
  for (const auto& [p, q] : pairs()) {
    const RatioTable table(p, q);
    for (const double b : places) expect_draws(table, table.residual(b), b, no_knee);
  }
}

TEST(RatioTable, ClippedDrawsFollowTheRunningSums) {
  for (const auto& [p, q] : pairs()) {
    const RatioTable table(p, q);
    for (const double clip_ratio : {1.0, 1.5, 3.0, 8.0})
      for (const double part : {0.3, 0.9, 1.0})
        expect_draws(table, table.clipped(part * clip_ratio, clip_ratio), part * clip_ratio, clip_ratio);
  }
}

TEST(RatioTable, WalksTheWeightsItDraws) {
  for (const auto& pair : pairs()) {
    const std::vector<double>& p = pair.p;
    const RatioTable table(p, pair.q);
    const auto expect_enumeration = [&](const auto& weights, double b, double clip_ratio) {
      std::vector<double> summed(p.size(), 0);
      weights.for_each([&](Token x, double w) { summed[static_cast<std::size_t>(x)] += w; });
      for (Token x = 0; x < table.vocabulary(); ++x)
        EXPECT_NEAR(summed[static_cast<std::size_t>(x)], static_cast<double>(weight(table, x, b, clip_ratio)),
                    tolerance(b));
    };
    for (const double b : places) expect_enumeration(table.residual(b), b, no_knee);
    for (const double clip_ratio : {1.0, 2.0})
      expect_enumeration(table.clipped(0.75 * clip_ratio, clip_ratio), 0.75 * clip_ratio, clip_ratio);
  }
}

TEST(RatioTable, TopRanksByProposalThenId) {
  for (const auto& [p, q] : pairs()) {
    const RatioTable table(p, q);
    const Rows<double> rows(p, q);
    for (int j = 0; j < std::min(table.vocabulary(), max_drafts); ++j)
      EXPECT_EQ(table.kth_most_probable(j), rows.kth_most_probable(j)) << j;
  }
}

TEST(RatioTable, ServesEveryProposalRow) {
  const std::vector<double> p{0.5, 0.25, 0.25};
  const std::vector<std::vector<double>> proposals{{0.25, 0.5, 0.25}, {0, 0.5, 0.5}, {0.75, 0.25, 0}};
  const RatioTable table(p, proposals);
  for (int k = 0; k < 3; ++k) {
    const auto& row = proposals[static_cast<std::size_t>(k)];
    for (Token x = 0; x < 3; ++x) EXPECT_EQ(table.proposal(x, k), row[static_cast<std::size_t>(x)]);
    for (const std::uint64_t word : examples::some_words(4, 50))
      EXPECT_GT(row[static_cast<std::size_t>(table.row(k).draw(word))], 0);
    const Token seen[] = {1};
    EXPECT_EQ(table.mass_without(k, seen, 1), 1 - row[1]);
  }
}

// As doubles, five entries of 0.2 do not sum to exactly 1, but the integer masses sum to 2^62. Token 0 gets the rest,
// so its mass differs from the masses of equal entries; the order must not depend on the difference.
TEST(RatioTable, OrdersEqualProbabilitiesByIdWhateverRoundingMadeOfThem) {
  for (const std::size_t size : {3u, 5u, 6u, 7u, 10u, 12u, 100u}) {
    const std::vector<double> q(size, 1.0 / static_cast<double>(size));
    const RatioTable table(q, q);
    const Rows<double> rows(q, q);
    for (int j = 0; j < static_cast<int>(std::min<std::size_t>(size, max_drafts)); ++j) {
      EXPECT_EQ(table.kth_most_probable(j), j) << size << " tokens";
      EXPECT_EQ(rows.kth_most_probable(j), j);
      EXPECT_EQ(table.view().kth_most_probable(j), j);
      EXPECT_EQ(FreshRows<double>(q, q).kth_most_probable(j), j);
    }
  }
  const std::vector<double> fifths(5, 0.2);
  const auto masses = quantise(fifths);
  EXPECT_NE(masses[0], masses[1]) << "the reason for this test";
  const RatioTable table(fifths, fifths);
  for (Token x = 1; x < 5; ++x) EXPECT_EQ(table.proposal(x), table.proposal(0));
}

// Tests that the guide counts as many ratios above b as a linear scan.

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
  // At these ratios b, b / (1 + b) is a multiple of the cell width.
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

// Tests that a guide changes only the time of a draw, and never its token.

/// Returns random bits at both ends of every possible cell of a guide, and around the bits at which the drawn token
/// changes.
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
        // The ratios differ only by rounding, so residual masses for b near 1 are rounding errors.
        {std::vector<double>(400, 1.0 / 400), examples::normalised(std::vector<double>(400, 3))}}) {
    const RatioTable table(p, q);
    for (const double b : {0.0, 0.5, 1.0, 1.25, 2.0, 7.0}) expect_same_tokens(table, table.residual(b));
    for (const double clip_ratio : {1.0, 1.5, 3.0})
      for (const double part : {0.3, 1.0}) expect_same_tokens(table, table.clipped(part * clip_ratio, clip_ratio));
  }
}

// A bisection of 1000 tokens takes ten comparisons. With a guide, uniform random bits need fewer than two on average.
// The bits of `parting_words` are not uniform: they lie at the ends of cells, where more comparisons are needed.
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
