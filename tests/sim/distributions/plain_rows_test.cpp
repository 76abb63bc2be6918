// Plain rows against their definitions, in fractions: the reference of every other model of the laws.
#include <gtest/gtest.h>

#include <draftproof/exact/rational.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>

namespace draftproof {
namespace {

const Rows<Rational> rational_rows({{1, 2}, {1, 4}, {1, 4}, 0},
                                   {{{1, 8}, {1, 2}, 0, {3, 8}}, {{1, 4}, {1, 4}, {1, 4}, {1, 4}}});

std::vector<Rational> walk(const auto& weights) {
  std::vector<Rational> row(4, 0);
  weights.for_each([&](Token x, const Rational& weight) { row[static_cast<std::size_t>(x)] = weight; });
  return row;
}

TEST(Rows, ResidualIsThePositivePart) {
  EXPECT_EQ(walk(rational_rows.residual({1, 2})), (std::vector<Rational>{{7, 16}, 0, {1, 4}, 0}));
  EXPECT_EQ(rational_rows.residual_mass({1, 2}), Rational(11, 16));
  EXPECT_EQ(rational_rows.residual_mass(0), 1);
}

TEST(Rows, ClippedBendsAtTheKnee) {
  // b = 1, clip_ratio = 2: p / 2 is below q on token 1 only (1/8 against 1/2).
  EXPECT_EQ(walk(rational_rows.clipped(1, 2)), (std::vector<Rational>{{3, 8}, {1, 8}, {1, 4}, 0}));
}

TEST(Rows, EveryDraftHasItsRow) {
  EXPECT_EQ(walk(rational_rows.row(1)), std::vector<Rational>(4, {1, 4}));
  const Token seen[] = {3, 0};
  EXPECT_EQ(walk(rational_rows.row_without(0, seen, 2)), (std::vector<Rational>{0, {1, 2}, 0, 0}));
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

}  // namespace
}  // namespace draftproof
