// The sorted table against its definition, token by token in long double.
#include <gtest/gtest.h>

#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

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

/// p - b min(q, p / clip_ratio), or (p - b q)+ without a clip_ratio: the definitions of the two kinds of residual.
long double weight(const RatioTable& table, Token x, double b, double clip_ratio) {
  const long double p = table.target(x), q = table.proposal(x);
  return clip_ratio < no_knee ? p - b * std::min<long double>(q, p / clip_ratio)
                              : std::max<long double>(p - b * q, 0);
}

// P and Q are rounded to doubles at most 1, b Q and the difference once each: (1 + 3b) 2^-53. The probabilities of
// this sum are rounded masses too, by 2^-54 of their size, p and b q in total: (1 + b) 2^-54.
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

/// Draws from `weights` must land where the running sums in table order cross u times the total.
template <class W>
void expect_draws(const RatioTable& table, const W& weights, double b, double clip_ratio) {
  std::vector<long double> running{0};
  for (const Token x : table.order()) running.push_back(running.back() + weight(table, x, b, clip_ratio));
  const double total = static_cast<double>(running.back());
  for (const std::uint64_t word : examples::some_words(3, 300)) {
    const Token drawn = weights.draw(word);
    if (total <= tolerance(b)) continue;  // a residual of rounding errors, with a probability of that size
    ASSERT_NE(drawn, no_token);
    const auto j = static_cast<std::size_t>(std::find(table.order().begin(), table.order().end(), drawn) -
                                            table.order().begin());
    ASSERT_LT(j, table.order().size());
    const double at = unit_interval(word) * total;
    ASSERT_GT(weight(table, drawn, b, clip_ratio), 0) << "token " << drawn << " b " << b;
    // The tail factor 1 - b / clip_ratio is one more rounding, hence twice.
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
    const auto expect_walk = [&](const auto& weights, double b, double clip_ratio) {
      std::vector<double> walked(p.size(), 0);
      weights.for_each([&](Token x, double w) { walked[static_cast<std::size_t>(x)] += w; });
      for (Token x = 0; x < table.vocabulary(); ++x)
        EXPECT_NEAR(walked[static_cast<std::size_t>(x)], static_cast<double>(weight(table, x, b, clip_ratio)),
                    tolerance(b));
    };
    for (const double b : places) expect_walk(table.residual(b), b, no_knee);
    for (const double clip_ratio : {1.0, 2.0})
      expect_walk(table.clipped(0.75 * clip_ratio, clip_ratio), 0.75 * clip_ratio, clip_ratio);
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

// Five shares of 1/5 sum to more than 1 in double: quantised to a sum of 2^62, token 0 has less than its equals.
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
  EXPECT_LT(RatioTable(fifths, fifths).proposal(0), RatioTable(fifths, fifths).proposal(1))
      << "the reason for this test";
}

}  // namespace
}  // namespace draftproof
