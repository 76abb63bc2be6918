// Tests that certificates of an optimum, by a flow or by bounds from both sides, are accepted if valid and rejected
// after a change of any field; and that RaceEnclosure contains the exact fractions.
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include <draftproof/captures/family.hpp>
#include <draftproof/optimum/certificate.hpp>
#include <draftproof/optimum/race_acceptance.hpp>
#include <draftproof/optimum/transport.hpp>
#include <draftproof/tests/support/random_distributions.hpp>

namespace draftproof {
namespace {

/// p = (1/2, 0, 1/2). The set {0, 1} is drafted with probability 3/4 and {1, 2} with 1/4. The flow assigns mass 1/2 of
/// the first set to token 0, and all of the second set to token 2.
class CertificateOfTwoSets : public ::testing::Test {
 protected:
  const std::vector<Rational> target{{1, 2}, 0, {1, 2}};
  const std::map<TokenSet, Rational> sets{{0b011, {3, 4}}, {0b110, {1, 4}}};
  Certificate<Rational> certificate{{3, 4}, 0b011, {{0b011, 0, {1, 2}}, {0b110, 2, {1, 4}}}};

  std::string reason() const { return reject(target, sets, certificate); }
};

TEST_F(CertificateOfTwoSets, IsAccepted) { EXPECT_EQ(reason(), ""); }

TEST_F(CertificateOfTwoSets, NotWithAnyFieldChanged) {
  const auto good = certificate;
  using Changed = Certificate<Rational>;
  const std::vector<std::pair<std::string, std::function<void(Changed&)>>> changes{
      {"the cut {0 1} is worth 3/4, not 7/8", [](Changed& bad) { bad.acceptance = Rational(7, 8); }},
      {"the cut {0} is worth 3/2, not 3/4", [](Changed& bad) { bad.cut = 0b001; }},
      {"the cut {0 1 3} is not of the vocabulary", [](Changed& bad) { bad.cut = 0b1011; }},
      {"the plan accepts 1/2, not 3/4", [](Changed& bad) { bad.plan[0].mass = Rational(1, 4); }},
      {"the plan accepts 0, not 3/4", [](Changed& bad) { bad.plan.clear(); }},
      {"the plan emits token 0 with 5/8, above its target 1/2",
       [](Changed& bad) { bad.plan[0].mass = Rational(5, 8), bad.plan[1].mass = Rational(1, 8); }},
      {"the plan uses 1/2 of set {1 2}, drafted with 1/4",
       [](Changed& bad) { bad.plan[0].mass = Rational(1, 4), bad.plan[1].mass = Rational(1, 2); }},
      {"the plan's f({1 2}, 0): no such token in the set", [](Changed& bad) { bad.plan[1].token = 0; }},
      {"the plan's f({1 2}, -1): no such token in the set", [](Changed& bad) { bad.plan[1].token = -1; }},
      {"the plan's f({1 2}, 64): no such token in the set", [](Changed& bad) { bad.plan[1].token = 64; }},
      {"the plan's f({2}, 2): the set is never drafted", [](Changed& bad) { bad.plan[1].set = 0b100; }},
      {"the plan's f({1 2}, 1) is -1/4", [](Changed& bad) {
         bad.plan.push_back({0b110, 1, {-1, 4}});
         bad.plan.push_back({0b011, 0, {1, 4}});
       }}};
  for (const auto& [wanted, change] : changes) {
    certificate = good;
    change(certificate);
    EXPECT_EQ(reason(), wanted);
  }
}
TEST_F(CertificateOfTwoSets, NotForSomethingThatIsNoDistribution) {
  EXPECT_EQ(reject(std::vector<Rational>{{1, 2}, 0, {1, 4}}, sets, certificate), "the target sums to 3/4");
  EXPECT_EQ(reject(std::vector<Rational>{{3, 2}, 0, {-1, 2}}, sets, certificate),
            "the target has the negative probability -1/2");
  EXPECT_EQ(reject(target, {{0b011, {3, 4}}}, certificate), "the draft sampling sums to 3/4");
  EXPECT_EQ(reject(target, {{0b011, {3, 2}}, {0b110, {-1, 2}}}, certificate), "set {1 2} is drafted with -1/2");
  EXPECT_EQ(reject(target, {{0b1000, 1}}, certificate), "set {3} is not of the vocabulary");
}

TEST(Certificate, OfRandomDistributionsDoesNotSurviveTampering) {
  SmallDistributionsSource source(21);
  for (int i = 0; i < 200; ++i) {
    const SmallDistributions distributions = source.next(5, 3, false);
    const auto sets = distributions.sets(*registry().drafter("without_replacement"));
    const auto certificate = optimal_transport(distributions.target, sets);
    ASSERT_EQ(reject(distributions.target, sets, certificate), "");
    auto tampered = certificate;
    tampered.acceptance += Rational(1, 1'000'000'000);
    ASSERT_NE(reject(distributions.target, sets, tampered), "");
    if (certificate.plan.empty()) continue;
    tampered = certificate;
    tampered.plan[static_cast<std::size_t>(source.below(static_cast<int>(tampered.plan.size())))].mass +=
        Rational(1, 97);
    ASSERT_NE(reject(distributions.target, sets, tampered), "");
    tampered = certificate;
    tampered.plan.pop_back();
    ASSERT_NE(reject(distributions.target, sets, tampered), "");
  }
}

Rational exactly(long double value) {
  const auto high = static_cast<double>(value);
  return Rational(high) + Rational(static_cast<double>(value - static_cast<long double>(high)));
}

using Reject = std::string (*)(std::span<const double>, std::span<const double>, int, const PrefixCertificate&);
using Make = PrefixCertificate (*)(const RatioTable&, int);

struct CertifiedDistribution {
  const char* name;
  Make make;
  Reject reject;
};
constexpr CertifiedDistribution distributions_of_certificates[] = {
    {"iid", iid_prefix_certificate, reject_iid},
    {"without_replacement", without_replacement_prefix_certificate, reject_without_replacement}};

TEST(RaceEnclosure, HoldsEveryPrefixInFractions) {
  SmallDistributionsSource source(71);
  const AnyDrafter& drafter = *registry().drafter("without_replacement");
  int enclosed = 0;
  long double widest = 0;
  for (int i = 0; i < 1500; ++i) {
    const SmallDistributions drawn = source.next(6, 4, false);
    const RatioTable table = drawn.table();
    const auto exact_distributions = served(table, drawn.drafts);
    const auto sets = exact_distributions.sets(drafter);
    const auto order = table.order();
    const auto prefix = table.exact_prefix();
    std::uint64_t slowest = row_total;
    for (const auto& mass : prefix)
      if (mass.proposal > 0) slowest = std::min(slowest, mass.proposal);
    RaceEnclosure race(drawn.drafts, slowest);
    TokenSet inside = 0;
    for (std::size_t j = order.size(); j-- > 0 && prefix[j].proposal > 0;) {
      race.add(prefix[j + 1].proposal - prefix[j].proposal);
      inside |= TokenSet{1} << order[j];
      if (std::popcount(inside) < drawn.drafts) continue;
      Rational missed = 1;
      for (const auto& [set, probability] : sets)
        if ((set & ~inside) == 0) missed -= probability;
      const auto [lower, upper] = race.missed(prefix[j].proposal);
      ASSERT_LE(exactly(lower), missed) << i;
      ASSERT_GE(exactly(upper), missed) << i;
      widest = std::max(widest, upper - lower);
      ++enclosed;
    }
  }
  EXPECT_GT(enclosed, 500);
  EXPECT_LT(widest, 1e-13L);  // the width for five tokens and at most a hundred doublings of 1 - e^(-qt)
  RecordProperty("widest", std::to_string(static_cast<double>(widest) * 1e15) + "e-15");
}

TEST(PrefixCertificate, EnclosesTheOptimumOfAllCuts) {
  for (const auto& distribution : distributions_of_certificates) {
    SmallDistributionsSource source(72);
    for (int i = 0; i < 500; ++i) {
      const SmallDistributions drawn = source.next(6, 4, false);
      const RatioTable table = drawn.table();
      const auto p = exact::as_doubles(drawn.target), q = exact::as_doubles(drawn.proposals.front());
      const auto certificate = distribution.make(table, drawn.drafts);
      ASSERT_EQ(distribution.reject(p, q, drawn.drafts, certificate), "") << distribution.name << ' ' << i;
      const auto exact_distributions = served(table, drawn.drafts);
      const auto least = cut_optimum<Rational>(exact_distributions.target,
                                               exact_distributions.sets(*registry().drafter(distribution.name)));
      ASSERT_LE(Rational(certificate.lower), least) << distribution.name << ' ' << i;
      ASSERT_GE(Rational(certificate.upper), least) << distribution.name << ' ' << i;
      ASSERT_LT(certificate.upper - certificate.lower, 3e-13);
    }
  }
}

TEST(PrefixCertificate, DoesNotSurviveTampering) {
  for (const auto& distribution : distributions_of_certificates) {
    SmallDistributionsSource source(73);
    int other_cuts = 0;
    for (int i = 0; i < 400; ++i) {
      const SmallDistributions drawn = source.next(6, 4, false);
      const RatioTable table = drawn.table();
      const auto p = exact::as_doubles(drawn.target), q = exact::as_doubles(drawn.proposals.front());
      const auto good = distribution.make(table, drawn.drafts);
      const auto rejected = [&](const PrefixCertificate& bad) {
        return distribution.reject(p, q, drawn.drafts, bad) != "";
      };
      const double beyond = 1e-12;  // more than upper - lower of every certificate here: a bound moved by it is false
      auto bad = good;
      bad.lower += beyond;
      ASSERT_TRUE(rejected(bad)) << distribution.name << ' ' << i;
      bad = good;
      bad.upper -= beyond;
      ASSERT_TRUE(rejected(bad)) << distribution.name << ' ' << i;
      for (const double nothing :
           {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        bad = good;
        bad.lower = nothing;
        ASSERT_TRUE(rejected(bad));
        bad = good;
        bad.upper = nothing;
        ASSERT_TRUE(rejected(bad));
      }
      // Another cut is valid only if its value is at most `upper`.
      const auto exact_distributions = served(table, drawn.drafts);
      const auto sets = exact_distributions.sets(*registry().drafter(distribution.name));
      for (std::size_t cut = 0; cut <= good.order.size() + 1; ++cut) {
        bad = good;
        bad.cut = cut;
        TokenSet inside = 0;
        Rational value = 1;
        for (std::size_t n = 0; n < std::min(cut, good.order.size()); ++n) {
          inside |= TokenSet{1} << good.order[n];
          value += exact_distributions.target[static_cast<std::size_t>(good.order[n])];
        }
        for (const auto& [set, probability] : sets)
          if ((set & ~inside) == 0) value -= probability;
        if (cut <= good.order.size() && value < Rational(good.upper) + Rational(1, 1'000'000'000)) continue;
        ++other_cuts;
        ASSERT_TRUE(rejected(bad)) << distribution.name << ' ' << i << " cut " << cut;
      }
      bad = good;
      bad.order.front() = -1;
      ASSERT_TRUE(rejected(bad));
      bad.order.front() = static_cast<Token>(p.size());
      ASSERT_TRUE(rejected(bad));
      bad.order = good.order;
      bad.order.push_back(good.order.front());
      ASSERT_TRUE(rejected(bad));
      bad.order = good.order;
      bad.order.pop_back();
      bad.cut = std::min(bad.cut, bad.order.size());
      ASSERT_TRUE(rejected(bad));
      for (std::size_t n = 0; n + 1 < good.order.size(); ++n) {
        const auto a = static_cast<std::size_t>(good.order[n]), b = static_cast<std::size_t>(good.order[n + 1]);
        bad.order = good.order;
        std::swap(bad.order[n], bad.order[n + 1]);
        const auto& proposal = exact_distributions.proposals.front();
        ASSERT_EQ(rejected({bad.order, good.cut, good.lower - 1, good.upper + 1}),
                  exact_distributions.target[a] * proposal[b] != exact_distributions.target[b] * proposal[a]);
      }
      for (std::size_t x = 0; x < q.size(); ++x)
        if (q[x] == 0) {
          bad.order = good.order;
          bad.order.push_back(static_cast<Token>(x));
          ASSERT_TRUE(rejected(bad));
        }
      ASSERT_NE(distribution.reject(p, q, 0, good), "");
    }
    EXPECT_GT(other_cuts, 400) << distribution.name;
  }
}

/// Tests that `lower` is rejected if it is above the value of a single cut, for cuts of every size 2 .. V - 1.
TEST(PrefixCertificate, LooksAtEveryPrefix) {
  const int vocabulary = 40;
  std::vector<double> q(vocabulary, 1.0 / vocabulary), p(vocabulary, 0);
  // With uniform q and p = 0 on the first `size` tokens, the least cut of two drafts consists of these tokens.
  for (int size = 2; size < vocabulary; ++size) {
    for (int x = 0; x < vocabulary; ++x) p[static_cast<std::size_t>(x)] = x < size ? 0 : 1.0 / (vocabulary - size);
    const RatioTable table(p, q);
    for (const auto& distribution : distributions_of_certificates) {
      auto certificate = distribution.make(table, 2);
      ASSERT_EQ(certificate.cut, static_cast<std::size_t>(size));
      ASSERT_EQ(distribution.reject(p, q, 2, certificate), "");
      certificate.lower += 1e-12;
      ASSERT_EQ(distribution.reject(p, q, 2, certificate),
                "the cut of the first " + std::to_string(size) + " tokens is not shown to be above the lower bound");
    }
  }
}

/// With p = q the cut without tokens has the value 1 exactly.
TEST(PrefixCertificate, BoundsMayEqualTheValueOfACut) {
  const std::vector<double> p{0.5, 0.5};
  PrefixCertificate certificate = iid_prefix_certificate(RatioTable(p, p), 2);
  certificate.cut = 0;
  certificate.lower = certificate.upper = 1;
  EXPECT_EQ(reject_iid(p, p, 2, certificate), "");
  certificate.lower = certificate.upper = std::nextafter(1.0, 0.0);
  EXPECT_EQ(reject_iid(p, p, 2, certificate),
            "the cut of the first 0 tokens is not shown to be below the upper bound");
}

TEST(PrefixCertificate, OfARealVocabulary) {
  registry();
  const RowPair pair = parse_family("gaussian_logits:sigma=2.5,noise=1,vocabulary=131072").pair(7, 0);
  const auto& p = pair.target;
  const auto& q = pair.proposals.front();
  const RatioTable table(p, q);
  for (const auto& distribution : distributions_of_certificates) {
    const auto certificate = distribution.make(table, 8);
    EXPECT_EQ(distribution.reject(p, q, 8, certificate), "") << distribution.name;
    EXPECT_LT(certificate.upper - certificate.lower, 4e-11);  // 2 V 2^-53 + 1e-13
    EXPECT_LT(certificate.upper, 1);
    auto bad = certificate;
    bad.lower = certificate.upper + 1e-12;
    EXPECT_NE(distribution.reject(p, q, 8, bad), "") << distribution.name;
    bad = certificate;
    bad.upper = certificate.lower - 1e-12;
    EXPECT_NE(distribution.reject(p, q, 8, bad), "") << distribution.name;
    bad = certificate;
    std::swap(bad.order[1000], bad.order[100'000]);
    EXPECT_NE(distribution.reject(p, q, 8, bad), "") << distribution.name;
  }
}

}  // namespace
}  // namespace draftproof
