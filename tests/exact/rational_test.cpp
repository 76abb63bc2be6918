// Fractions: laws from weights, their text, and their distance.
#include <gtest/gtest.h>

#include <draftproof/exact/rational.hpp>

namespace draftproof {
namespace {

TEST(Rational, WeightsBecomeALaw) {
  const std::vector<int> weights{1, 0, 3};
  EXPECT_EQ(normalised(weights), (std::vector<Rational>{{1, 4}, 0, {3, 4}}));
}

TEST(Rational, PrintsInLowestTerms) {
  EXPECT_EQ(to_text(Rational(6, 8)), "3/4");
  EXPECT_EQ(to_text(Rational(4, 2)), "2");
  EXPECT_EQ(to_text(std::vector<Rational>{{1, 4}, 0, {3, 4}}), "(1/4 0 3/4)");
}

TEST(Rational, BriefTextCutsWhatNobodyReads) {
  EXPECT_EQ(brief(Rational(6, 8)), "3/4");
  EXPECT_EQ(brief(Rational(123456789, 100000007)), "123456789/100000007");
  EXPECT_EQ(brief(std::vector<Rational>{{1, 4}, Rational(1) / 3 + Rational(1) / 1000000007}), "(1/4 0.333333334...)");
}

TEST(Rational, TotalVariationIsHalfTheDistance) {
  const std::vector<Rational> a{{1, 2}, {1, 2}, 0}, b{{1, 4}, {1, 4}, {1, 2}};
  EXPECT_EQ(total_variation(a, b), Rational(1, 2));
  EXPECT_EQ(total_variation(a, a), 0);
}

}  // namespace
}  // namespace draftproof
