// Two-sided certificates: accepted when valid, rejected with any changed field, and their enclosure of the race
// compared with fractions.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <draftproof/captures/family.hpp>
#include <draftproof/optimum/exponential_clocks.hpp>
#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/optimum/prefix_certificate.hpp>
#include <draftproof/optimum/race_enclosure.hpp>
#include <draftproof/tests/support/random_laws.hpp>

namespace draftproof {
namespace {

Rational exactly(long double value) {
  const auto high = static_cast<double>(value);
  return Rational(high) + Rational(static_cast<double>(value - static_cast<long double>(high)));
}

using Reject = std::string (*)(std::span<const double>, std::span<const double>, int, const PrefixCertificate&);
using Make = PrefixCertificate (*)(const RatioTable&, int);

struct CertifiedLaw {
  const char* name;
  Make make;
  Reject reject;
};
constexpr CertifiedLaw laws_of_certificates[] = {
    {"iid", iid_prefix_certificate, reject_iid},
    {"without_replacement", without_replacement_prefix_certificate, reject_without_replacement}};

/// The laws of a table, as fractions.
SmallLaws served(const RatioTable& table, int drafts) {
  SmallLaws laws{std::vector<Rational>(static_cast<std::size_t>(table.vocabulary())), {}, drafts};
  laws.proposals.push_back(laws.target);
  const auto prefix = table.exact_prefix();
  for (std::size_t j = 0; j < table.order().size(); ++j) {
    const auto x = static_cast<std::size_t>(table.order()[j]);
    laws.target[x] = Rational(prefix[j + 1].target - prefix[j].target, row_total);
    laws.proposals.front()[x] = Rational(prefix[j + 1].proposal - prefix[j].proposal, row_total);
  }
  return laws;
}

TEST(RaceEnclosure, HoldsEveryPrefixInFractions) {
  SmallLawsSource source(71);
  const AnyDrafter& drafter = *registry().drafter("without_replacement");
  int enclosed = 0;
  long double widest = 0;
  for (int i = 0; i < 1500; ++i) {
    const SmallLaws drawn = source.next(6, 4, false);
    const RatioTable table = drawn.table();
    const auto exact_laws = served(table, drawn.drafts);
    const auto sets = exact_laws.sets(drafter);
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
  EXPECT_LT(widest, 1e-13L);  // five tokens, and at most a hundred octaves of doubling
  RecordProperty("widest", std::to_string(static_cast<double>(widest) * 1e15) + "e-15");
}

TEST(PrefixCertificate, EnclosesTheOptimumOfAllCuts) {
  for (const auto& law : laws_of_certificates) {
    SmallLawsSource source(72);
    for (int i = 0; i < 500; ++i) {
      const SmallLaws drawn = source.next(6, 4, false);
      const RatioTable table = drawn.table();
      const auto p = exact::as_doubles(drawn.target), q = exact::as_doubles(drawn.proposals.front());
      const auto certificate = law.make(table, drawn.drafts);
      ASSERT_EQ(law.reject(p, q, drawn.drafts, certificate), "") << law.name << ' ' << i;
      const auto exact_laws = served(table, drawn.drafts);
      const auto least = cut_optimum<Rational>(exact_laws.target, exact_laws.sets(*registry().drafter(law.name)));
      ASSERT_LE(Rational(certificate.lower), least) << law.name << ' ' << i;
      ASSERT_GE(Rational(certificate.upper), least) << law.name << ' ' << i;
      ASSERT_LT(certificate.upper - certificate.lower, 3e-13);
    }
  }
}

TEST(PrefixCertificate, DoesNotSurviveTampering) {
  for (const auto& law : laws_of_certificates) {
    SmallLawsSource source(73);
    int other_cuts = 0;
    for (int i = 0; i < 400; ++i) {
      const SmallLaws drawn = source.next(6, 4, false);
      const RatioTable table = drawn.table();
      const auto p = exact::as_doubles(drawn.target), q = exact::as_doubles(drawn.proposals.front());
      const auto good = law.make(table, drawn.drafts);
      const auto rejected = [&](const PrefixCertificate& bad) { return law.reject(p, q, drawn.drafts, bad) != ""; };
      const double beyond = 1e-12;  // more than the width of a certificate, so the statement is false
      auto bad = good;
      bad.lower += beyond;
      ASSERT_TRUE(rejected(bad)) << law.name << ' ' << i;
      bad = good;
      bad.upper -= beyond;
      ASSERT_TRUE(rejected(bad)) << law.name << ' ' << i;
      for (const double nothing :
           {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        bad = good;
        bad.lower = nothing;
        ASSERT_TRUE(rejected(bad));
        bad = good;
        bad.upper = nothing;
        ASSERT_TRUE(rejected(bad));
      }
      // Another cut is a proof only if its value is as low.
      const auto exact_laws = served(table, drawn.drafts);
      const auto sets = exact_laws.sets(*registry().drafter(law.name));
      for (std::size_t cut = 0; cut <= good.order.size() + 1; ++cut) {
        bad = good;
        bad.cut = cut;
        TokenSet inside = 0;
        Rational value = 1;
        for (std::size_t n = 0; n < std::min(cut, good.order.size()); ++n) {
          inside |= TokenSet{1} << good.order[n];
          value += exact_laws.target[static_cast<std::size_t>(good.order[n])];
        }
        for (const auto& [set, probability] : sets)
          if ((set & ~inside) == 0) value -= probability;
        if (cut <= good.order.size() && value < Rational(good.upper) + Rational(1, 1'000'000'000)) continue;
        ++other_cuts;
        ASSERT_TRUE(rejected(bad)) << law.name << ' ' << i << " cut " << cut;
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
        const auto& proposal = exact_laws.proposals.front();
        ASSERT_EQ(rejected({bad.order, good.cut, good.lower - 1, good.upper + 1}),
                  exact_laws.target[a] * proposal[b] != exact_laws.target[b] * proposal[a]);
      }
      for (std::size_t x = 0; x < q.size(); ++x)
        if (q[x] == 0) {
          bad.order = good.order;
          bad.order.push_back(static_cast<Token>(x));
          ASSERT_TRUE(rejected(bad));
        }
      ASSERT_NE(law.reject(p, q, 0, good), "");
    }
    EXPECT_GT(other_cuts, 400) << law.name;
  }
}

/// A `lower` above any one cut is detected, at every place in the order.
TEST(PrefixCertificate, LooksAtEveryPrefix) {
  const int vocabulary = 40;
  std::vector<double> q(vocabulary, 1.0 / vocabulary), p(vocabulary, 0);
  // Uniform q; p puts the least cut of two drafts at any wanted size: nothing below it, all above.
  for (int size = 2; size < vocabulary; ++size) {
    for (int x = 0; x < vocabulary; ++x) p[static_cast<std::size_t>(x)] = x < size ? 0 : 1.0 / (vocabulary - size);
    const RatioTable table(p, q);
    for (const auto& law : laws_of_certificates) {
      auto certificate = law.make(table, 2);
      ASSERT_EQ(certificate.cut, static_cast<std::size_t>(size));
      ASSERT_EQ(law.reject(p, q, 2, certificate), "");
      certificate.lower += 1e-12;
      ASSERT_EQ(law.reject(p, q, 2, certificate),
                "the cut of the first " + std::to_string(size) + " tokens is not shown to be above the lower bound");
    }
  }
}

TEST(PrefixCertificate, OfARealVocabulary) {
  registry();
  const RowPair pair = parse_family("gaussian_logits:sigma=2.5,noise=1,vocabulary=131072").pair(7, 0);
  const auto& p = pair.target;
  const auto& q = pair.proposals.front();
  const RatioTable table(p, q);
  for (const auto& law : laws_of_certificates) {
    const auto certificate = law.make(table, 8);
    EXPECT_EQ(law.reject(p, q, 8, certificate), "") << law.name;
    EXPECT_LT(certificate.upper - certificate.lower, 4e-11);  // V 2^-53 on both sides, and 1e-13
    EXPECT_LT(certificate.upper, 1);
    auto bad = certificate;
    bad.lower = certificate.upper + 1e-12;
    EXPECT_NE(law.reject(p, q, 8, bad), "") << law.name;
    bad = certificate;
    bad.upper = certificate.lower - 1e-12;
    EXPECT_NE(law.reject(p, q, 8, bad), "") << law.name;
    bad = certificate;
    std::swap(bad.order[1000], bad.order[100'000]);
    EXPECT_NE(law.reject(p, q, 8, bad), "") << law.name;
  }
}

}  // namespace
}  // namespace draftproof
