// A valid certificate is accepted, and one with any changed field is rejected.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <draftproof/optimum/cut_certificate.hpp>
#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/optimum/transport.hpp>
#include <draftproof/tests/support/random_laws.hpp>

namespace draftproof {
namespace {

/// p = (1/2, 0, 1/2); {0, 1} drafted with 3/4, {1, 2} with 1/4: token 0 takes 1/2 of the first, token 2 all of the
/// second.
class CertificateOfTwoSets : public ::testing::Test {
 protected:
  const std::vector<Rational> target{{1, 2}, 0, {1, 2}};
  const std::map<TokenSet, Rational> sets{{0b011, {3, 4}}, {0b110, {1, 4}}};
  Certificate<Rational> certificate{{3, 4}, 0b011, {{0b011, 0, {1, 2}}, {0b110, 2, {1, 4}}}};

  std::string reason() const { return reject(target, sets, certificate); }
};

TEST_F(CertificateOfTwoSets, IsAccepted) { EXPECT_EQ(reason(), ""); }

TEST_F(CertificateOfTwoSets, NotWithAnotherValue) {
  certificate.acceptance = {7, 8};
  EXPECT_EQ(reason(), "the cut {0 1} is worth 3/4, not 7/8");
}
TEST_F(CertificateOfTwoSets, NotWithAnotherCut) {
  certificate.cut = 0b001;
  EXPECT_EQ(reason(), "the cut {0} is worth 3/2, not 3/4");
  certificate.cut = 0b1011;
  EXPECT_EQ(reason(), "the cut {0 1 3} is not of the vocabulary");
}
TEST_F(CertificateOfTwoSets, NotWithAPlanOfLess) {
  certificate.plan[0].mass = {1, 4};
  EXPECT_EQ(reason(), "the plan accepts 1/2, not 3/4");
  certificate.plan.clear();
  EXPECT_EQ(reason(), "the plan accepts 0, not 3/4");
}
TEST_F(CertificateOfTwoSets, NotWithAPlanOfMoreThanTheTarget) {
  certificate.plan[0].mass = {5, 8};
  certificate.plan[1].mass = {1, 8};
  EXPECT_EQ(reason(), "the plan emits token 0 with 5/8, above its target 1/2");
}
TEST_F(CertificateOfTwoSets, NotWithAPlanOfMoreThanTheSet) {
  certificate.plan[0].mass = {1, 4};
  certificate.plan[1].mass = {1, 2};
  EXPECT_EQ(reason(), "the plan uses 1/2 of set {1 2}, drafted with 1/4");
}
TEST_F(CertificateOfTwoSets, NotWithATokenOutsideItsSet) {
  certificate.plan[1].token = 0;
  EXPECT_EQ(reason(), "the plan's f({1 2}, 0): no such token in the set");
  certificate.plan[1].token = -1;
  EXPECT_EQ(reason(), "the plan's f({1 2}, -1): no such token in the set");
  certificate.plan[1].token = 64;
  EXPECT_EQ(reason(), "the plan's f({1 2}, 64): no such token in the set");
}
TEST_F(CertificateOfTwoSets, NotWithASetThatIsNeverDrafted) {
  certificate.plan[1].set = 0b100;
  EXPECT_EQ(reason(), "the plan's f({2}, 2): the set is never drafted");
}
TEST_F(CertificateOfTwoSets, NotWithANegativeShipment) {
  certificate.plan.push_back({0b110, 1, {-1, 4}});
  certificate.plan.push_back({0b011, 0, {1, 4}});
  EXPECT_EQ(reason(), "the plan's f({1 2}, 1) is -1/4");
}
TEST_F(CertificateOfTwoSets, NotForSomethingThatIsNoLaw) {
  EXPECT_EQ(reject(std::vector<Rational>{{1, 2}, 0, {1, 4}}, sets, certificate), "the target sums to 3/4");
  EXPECT_EQ(reject(std::vector<Rational>{{3, 2}, 0, {-1, 2}}, sets, certificate),
            "the target has the negative probability -1/2");
  EXPECT_EQ(reject(target, {{0b011, {3, 4}}}, certificate), "the draft law sums to 3/4");
  EXPECT_EQ(reject(target, {{0b011, {3, 2}}, {0b110, {-1, 2}}}, certificate), "set {1 2} is drafted with -1/2");
  EXPECT_EQ(reject(target, {{0b1000, 1}}, certificate), "set {3} is not of the vocabulary");
}

TEST(Certificate, OfRandomLawsDoesNotSurviveTampering) {
  SmallLawsSource source(21);
  for (int i = 0; i < 200; ++i) {
    const SmallLaws laws = source.next(5, 3, false);
    const auto sets = laws.sets(*registry().drafter("without_replacement"));
    const auto certificate = optimal_transport(laws.target, sets);
    ASSERT_EQ(reject(laws.target, sets, certificate), "");
    auto tampered = certificate;
    tampered.acceptance += Rational(1, 1'000'000'000);
    ASSERT_NE(reject(laws.target, sets, tampered), "");
    if (certificate.plan.empty()) continue;
    tampered = certificate;
    tampered.plan[static_cast<std::size_t>(source.below(static_cast<int>(tampered.plan.size())))].mass +=
        Rational(1, 97);
    ASSERT_NE(reject(laws.target, sets, tampered), "");
    tampered = certificate;
    tampered.plan.pop_back();
    ASSERT_NE(reject(laws.target, sets, tampered), "");
  }
}

TEST(CutCertificate, BoundsTheScanFromAboveExactly) {
  SmallLawsSource source(22);
  for (int i = 0; i < 300; ++i) {
    const SmallLaws laws = source.next(8, 6, false);
    const auto p = exact::as_doubles(laws.target);
    const std::vector<std::vector<double>> q{exact::as_doubles(laws.proposals.front())};
    const RatioTable table(p, q);
    auto certificate = iid_cut_certificate(table, p, q, laws.drafts);
    ASSERT_EQ(reject(p, q, laws.drafts, certificate), "");
    ASSERT_NEAR(certificate.bound, iid_optimum(table, laws.drafts).acceptance, (laws.drafts + 4) * 0x1p-53);
    // The bound is the least double: one step less is refused unless the value itself is a double.
    const Rational value = exact_cut_value(p, q, laws.drafts, certificate.tokens);
    certificate.bound = std::nextafter(certificate.bound, -1.0);
    ASSERT_EQ(reject(p, q, laws.drafts, certificate) == "", Rational(certificate.bound) >= value);
  }
}

TEST(CutCertificate, OfOtherTokensIsRejected) {
  const std::vector<double> p{0.25, 0.25, 0.5};
  const std::vector<std::vector<double>> q{{0.5, 0.25, 0.25}};
  const auto good = iid_cut_certificate(RatioTable(p, q), p, q, 2);
  EXPECT_EQ(reject(p, q, 2, good), "");
  for (const std::vector<Token>& tokens : {std::vector<Token>{0, 0}, {-1}, {3}, {2}}) {
    auto bad = good;
    bad.tokens = tokens;
    EXPECT_NE(reject(p, q, 2, bad), "");
  }
  auto bad = good;
  bad.bound = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(reject(p, q, 2, bad), "");
}

}  // namespace
}  // namespace draftproof
