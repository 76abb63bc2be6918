// Three independent computations of the optimum: flows, cuts over all sets and a linear program, for every draft law;
// flows and cuts in fractions with ==.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/optimum/linear_program.hpp>
#include <draftproof/optimum/transport.hpp>
#include <draftproof/tests/support/random_laws.hpp>

namespace draftproof {
namespace {

constexpr int instances = 1000;

TEST(Transport, EqualsTheLeastCutForEveryDraftLaw) {
  for (const auto& drafter : registry().drafters()) {
    if (drafter->info().shared_noise()) continue;  // walked as the law it draws, which is on the list
    SmallLawsSource source(11);
    int compared = 0;
    while (compared < instances) {
      const SmallLaws laws = source.next(5, 3, drafter->info().several_proposals);
      if (!drafter->defined(static_cast<int>(laws.target.size()), laws.drafts, laws.drafts)) continue;
      ++compared;
      const auto sets = laws.sets(*drafter);
      const auto certificate = optimal_transport(laws.target, sets);
      ASSERT_EQ(certificate.acceptance, cut_optimum<Rational>(laws.target, sets)) << drafter->info().name;
      ASSERT_EQ(reject(laws.target, sets, certificate), "") << drafter->info().name;

      const auto target = exact::as_doubles(laws.target);
      std::map<TokenSet, double> rounded;
      for (const auto& [set, probability] : sets) rounded[set] = static_cast<double>(probability);
      const double wanted = static_cast<double>(certificate.acceptance);
      // Capacities lose at most 2^-52 each: 5 tokens and at most 25 sets.
      ASSERT_NEAR(optimal_transport(target, rounded).acceptance, wanted, 32 * 0x1p-52) << drafter->info().name;
      if (compared % 4 == 0) {
        // Clp's tolerance of 1e-11 a row.
        ASSERT_NEAR(linear_program_optimum(target, rounded), wanted, 32 * 1e-11) << drafter->info().name;
      }
    }
  }
}

TEST(Transport, PlansOfDoublesStayWithinTheLaws) {
  SmallLawsSource source(12);
  for (int i = 0; i < 300; ++i) {
    const SmallLaws laws = source.next(6, 3, false);
    const auto target = exact::as_doubles(laws.target);
    std::map<TokenSet, double> sets, left;
    for (const auto& [set, probability] : laws.sets(*registry().drafter("iid")))
      sets[set] = left[set] = static_cast<double>(probability);
    auto room = target;
    for (const auto& [set, token, mass] : optimal_transport(target, sets).plan) {
      left.at(set) -= mass;  // multiples of 2^-52: exact
      room[static_cast<std::size_t>(token)] -= mass;
    }
    for (const auto& [set, mass] : left) ASSERT_GE(mass, 0);
    for (const double mass : room) ASSERT_GE(mass, 0);
  }
}

TEST(Transport, OfTwoDraftsIsTheClosedForm) {
  // min over S of p(S) + q(S^c)^2 + 2 q(S) q(S^c).
  SmallLawsSource source(13);
  for (int i = 0; i < 200; ++i) {
    SmallLaws laws = source.next(5, 1, false);
    laws.drafts = 2;
    Rational least = 1;
    for (TokenSet s = 0; s < TokenSet{1} << laws.target.size(); ++s) {
      Rational p = 0, in = 0;
      for (std::size_t x = 0; x < laws.target.size(); ++x)
        if (s >> x & 1) p += laws.target[x], in += laws.proposals.front()[x];
      const Rational out = 1 - in;
      least = std::min<Rational>(least, p + out * out + 2 * in * out);
    }
    ASSERT_EQ(optimal_transport(laws.target, laws.sets(*registry().drafter("iid"))).acceptance, least);
  }
}

TEST(Transport, AcceptsAlwaysExactlyIfNoSetIsDraftedTooOften) {
  // Hall: alpha* = 1 if and only if p(S) >= Pr(all drafts in S) for every S.
  SmallLawsSource source(14);
  int always = 0;
  for (int i = 0; i < 500; ++i) {
    const SmallLaws laws = source.next(4, 4, false);
    const auto sets = laws.sets(*registry().drafter("iid"));
    bool condition = true;
    for (TokenSet s = 0; s < TokenSet{1} << laws.target.size(); ++s) {
      Rational p = 0, in = 0;
      for (std::size_t x = 0; x < laws.target.size(); ++x)
        if (s >> x & 1) p += laws.target[x], in += laws.proposals.front()[x];
      condition = condition && p >= exact::power(in, laws.drafts);
    }
    ASSERT_EQ(optimal_transport(laws.target, sets).acceptance == 1, condition);
    always += condition;
  }
  EXPECT_GT(always, 20);
  EXPECT_LT(always, 480);
}

TEST(Transport, SaysWhenFractionsAreTooLong) {
  Rational tiny = 1;
  for (int i = 0; i < 1100; ++i) tiny /= 2;
  const std::vector<Rational> target{tiny, 1 - tiny};
  EXPECT_THROW(optimal_transport(target, {{TokenSet{1}, Rational(1)}}), std::range_error);
}

}  // namespace
}  // namespace draftproof
