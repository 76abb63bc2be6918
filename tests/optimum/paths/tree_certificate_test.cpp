// A certificate of a drafted tree is valid, one with any changed field is rejected, and a certificate made from any
// solver output is valid.
#include <gtest/gtest.h>

#include <draftproof/optimum/paths/near_fraction.hpp>
#include <draftproof/tests/support/random_trees.hpp>

namespace draftproof {
namespace {

/// One token of two: p = (1/2, 1/2), then token 1 for certain. {()} is never drafted alone; (0) with 3/4, (1) with
/// 1/4. One shot accepts 1/2 + 1/4.
class CertificateOfTwoTrees : public ::testing::Test {
 protected:
  TreeLaw law{{{-1, no_token, 0, {{1, 2}, {1, 2}}}, {0, 0, 1, {0, 1}}, {0, 1, 1, {0, 1}}},
              {{{0, 1}, {3, 4}}, {{0, 2}, {1, 4}}}};
  TreeCertificate certificate{{3, 4}, {3, 4}, {{{1, 4}, {1, 2}}, {0, {1, 4}}}, {0, 1, 0}};

  std::string reason(Sight sight = Sight::one_shot) const { return reject(law, sight, certificate); }
};

TEST_F(CertificateOfTwoTrees, IsAccepted) {
  EXPECT_EQ(reason(), "");
  EXPECT_EQ(reason(Sight::whole_block), "");  // one token: to know the block is to draw it
}
TEST_F(CertificateOfTwoTrees, NotWithAnotherValue) {
  certificate.lower = {7, 8};
  EXPECT_EQ(reason(), "the plan accepts 3/4 tokens, not 7/8");
  certificate.lower = {3, 4};
  certificate.upper = {2, 3};
  EXPECT_EQ(reason(), "the prices prove 3/4, not 2/3");
}
TEST_F(CertificateOfTwoTrees, NotWithAPlanOfMoreThanTheTarget) {
  certificate.stops[0] = {0, {3, 4}};
  EXPECT_EQ(reason(), "the plan accepts (0) with 3/4, above 1/2");
  EXPECT_EQ(reason(Sight::whole_block), "the plan accepts (0) with 3/4, above 1/2");
}
TEST_F(CertificateOfTwoTrees, NotWithAPlanThatUsesAnotherShareOfATree) {
  certificate.stops[0][0] = {1, 2};
  EXPECT_EQ(reason(), "the plan uses 1 of tree 0, drafted with 3/4");
  certificate.stops[0][0] = 0;
  EXPECT_EQ(reason(), "the plan uses 1/2 of tree 0, drafted with 3/4");
}
TEST_F(CertificateOfTwoTrees, NotWithANegativeStop) {
  certificate.stops[1] = {{-1, 4}, {1, 2}};
  EXPECT_EQ(reason(), "the plan stops at () of tree 1 with -1/4");
}
TEST_F(CertificateOfTwoTrees, NotWithAPlanOfAnotherShape) {
  certificate.stops[1].push_back(0);
  EXPECT_EQ(reason(), "the plan has another number of nodes for tree 1");
  certificate.stops.pop_back();
  EXPECT_EQ(reason(), "the plan is for another number of trees");
}
TEST_F(CertificateOfTwoTrees, NotWithOtherPrices) {
  certificate.prices[1] = {1, 2};
  EXPECT_EQ(reason(), "the prices prove 7/8, not 3/4");
  certificate.prices[1] = -1;
  EXPECT_EQ(reason(), "the price of (0) is -1");
  certificate.prices = {1, 1, 0};
  EXPECT_EQ(reason(), "the price of the empty prefix is 1");
  certificate.prices.pop_back();
  EXPECT_EQ(reason(), "there are prices for another number of prefixes");
}
TEST_F(CertificateOfTwoTrees, NotForSomethingThatIsNoLawOfTrees) {
  const TreeLaw good = law;
  const auto says = [&](const std::string& wanted) {
    EXPECT_EQ(reason(), wanted);
    law = good;
  };
  law.trees[0].probability = {1, 2};
  says("the trees' probabilities sum to 3/4");
  law.trees[0].probability = {-3, 4};
  says("tree 0 has probability -3/4");
  law.trees[0].nodes = {1};
  says("tree 0 does not hold the empty prefix");
  law.trees[0].nodes = {0, 2, 1};
  says("tree 0 has its nodes out of order");
  law.trees[0].nodes = {0, 3};
  says("tree 0 has a node that is no prefix");
  law.trees[0].nodes = {0, 2};
  says("tree 1 stands twice");
  law.prefixes[2] = {1, 1, 2, {0, 1}};
  says("tree 1 has a node without its parent");
  law.prefixes[2].depth = 2;
  says("prefix 2 has the wrong depth");
  law.prefixes[2].parent = 2;
  says("prefix 2 does not come after its parent");
  law.prefixes[2].parent = -1;
  says("prefix 2 does not come after its parent");
  law.prefixes[2].token = 2;
  says("prefix 2 ends with no token of the vocabulary");
  law.prefixes[2].token = 0;
  says("prefix 2 stands twice");
  law.prefixes[1].target = {{1, 2}, {1, 4}};
  says("prefix 1 has a target that sums to 3/4");
  law.prefixes[1].target = {{-1, 2}, {3, 2}};
  says("prefix 1 has a target with the negative probability -1/2");
  law.prefixes[1].target = {1};
  says("prefix 1 has a target of another vocabulary");
  law.prefixes[0].parent = 0;
  says("prefix 0 is not the empty one");
}

TEST(TreeCertificate, OfRandomTreesDoesNotSurviveTampering) {
  SmallTreeModels models(41);
  const Rational little(1, 1'000'000'000'000);
  for (int i = 0; i < 60; ++i) {
    const TreeLaw law = models.next().law(i % 2 ? "iid_paths" : "without_replacement_tree");
    const Sight sight = i % 4 < 2 ? Sight::one_shot : Sight::whole_block;
    const TreeCertificate good = tree_optimum(law, sight);
    ASSERT_EQ(reject(law, sight, good), "");
    const auto spoiled = [&](auto&& spoil) {
      TreeCertificate bad = good;
      spoil(bad);
      return !reject(law, sight, bad).empty();
    };
    ASSERT_TRUE(spoiled([&](TreeCertificate& bad) { bad.lower += little; }));
    ASSERT_TRUE(spoiled([&](TreeCertificate& bad) { bad.upper -= little; }));
    const auto t = static_cast<std::size_t>(models.below(static_cast<int>(law.trees.size())));
    for (std::size_t j = 0; j < good.stops[t].size(); ++j)
      ASSERT_TRUE(spoiled([&](TreeCertificate& bad) { bad.stops[t][j] += little; }));
    // One higher price gives another bound, unless nothing pays it: the prices then prove the same.
    for (std::size_t x = 1; x < law.prefixes.size(); ++x) {
      TreeCertificate bad = good;
      bad.prices[x] += 1;
      bad.upper += 2;
      ASSERT_NE(reject(law, sight, bad), "") << "a bound may be off by 1 at most";
    }
  }
}

TEST(TreeCertificate, IsRightWhateverTheSolverSays) {
  SmallTreeModels models(42);
  for (int i = 0; i < 60; ++i) {
    const TreeLaw law = models.next().law("iid_paths");
    for (const Sight sight : {Sight::one_shot, Sight::whole_block}) {
      TreeProposal nonsense;
      for (const TreeLaw::Tree& tree : law.trees) {
        nonsense.stops.emplace_back();
        for (std::size_t j = 0; j < tree.nodes.size(); ++j)
          nonsense.stops.back().push_back(models.below(7) / 3.0 - 0.5);
      }
      for (std::size_t x = 0; x < law.prefixes.size(); ++x) nonsense.prices.push_back(models.below(9) / 3.0 - 1);
      const TreeCertificate loose = certify(law, sight, nonsense), tight = tree_optimum(law, sight);
      ASSERT_EQ(reject(law, sight, loose), "");
      ASSERT_LE(loose.lower, tight.upper);
      ASSERT_GE(loose.upper, tight.lower);
    }
  }
}

TEST(NearFraction, IsShortOrNothing) {
  EXPECT_EQ(short_fraction(131.0 / 81), Rational(131, 81));
  EXPECT_EQ(short_fraction(-2.0 / 3), Rational(-2, 3));
  EXPECT_EQ(short_fraction(0.0), Rational(0));
  EXPECT_EQ(short_fraction(1e-17), Rational(0));
  EXPECT_EQ(short_fraction(1.0 - 1e-13), Rational(1));
  EXPECT_EQ(short_fraction(0x1p-16), Rational(1, 1 << 16));
  EXPECT_FALSE(short_fraction(0.7182818284590452));
  EXPECT_FALSE(short_fraction(0x1p-17));
  EXPECT_FALSE(short_fraction(1e5));
}

TEST(NearFraction, IsRoundedDownToAMultipleOfAPowerOfTwo) {
  const Rational step = Rational(1) / (1ll << 60);
  EXPECT_EQ(rounded_down(Rational(3, 4)), Rational(3, 4));
  EXPECT_EQ(rounded_down(Rational(0)), Rational(0));
  for (const Rational& value : {Rational(1, 3), Rational(-1, 3), Rational(22, 7)}) {
    EXPECT_LT(rounded_down(value), value);
    EXPECT_GT(rounded_down(value), value - step);
    EXPECT_TRUE(Rational(rounded_down(value) / step).is_integer());
  }
}

}  // namespace
}  // namespace draftproof
