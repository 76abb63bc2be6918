// Without replacement: the race of clocks against sums over all drawn sets, for every prefix, at every K; and the two
// statements that the scan rests on, in fractions.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/optimum/exponential_clocks.hpp>
#include <draftproof/tests/support/random_laws.hpp>

namespace draftproof {
namespace {

/// Pr(the first n drafts are the set A), from the sets with one token less; unseen mass is summed, never 1 - seen.
std::vector<long double> drawn_sets(const RatioTable& table, int drafts) {
  const int vocabulary = table.vocabulary();
  std::vector<long double> law(std::size_t{1} << vocabulary, 0);
  law[0] = 1;
  for (TokenSet set = 0; set < law.size(); ++set) {
    long double unseen = 0;
    for (Token x = 0; x < vocabulary; ++x)
      if (!(set >> x & 1)) unseen += table.proposal(x);
    if (std::popcount(set) == drafts || unseen == 0) continue;
    for (Token x = 0; x < vocabulary; ++x)
      if (!(set >> x & 1)) law[set | TokenSet{1} << x] += law[set] * table.proposal(x) / unseen;
    law[set] = 0;
  }
  return law;
}

/// 1e-14 of the rule, V + nodes roundings of the sums and the doubling of at most 90 octaves.
constexpr double clock_tolerance = 1e-13;

TEST(ExponentialClocks, GiveEveryPrefixItsProbability) {
  SmallLawsSource source(1);
  double largest = 0;
  for (int instance = 0; instance < 5000; ++instance) {
    const SmallLaws laws = source.next(10, 8, false);
    const RatioTable table = laws.table();
    const auto law = drawn_sets(table, laws.drafts);
    const auto missed = missed_without_replacement(table, laws.drafts);
    const auto order = table.order();
    ASSERT_EQ(missed.size(), order.size() + 1);
    for (std::size_t j = 0; j <= order.size(); ++j) {
      TokenSet outside = 0;
      for (std::size_t i = 0; i < j; ++i) outside |= TokenSet{1} << order[i];
      long double wanted = 0;
      for (TokenSet set = 0; set < law.size(); ++set)
        if (set & outside) wanted += law[set];
      ASSERT_NEAR(missed[j], static_cast<double>(wanted), clock_tolerance) << instance << " prefix " << j;
      largest = std::max(largest, std::abs(missed[j] - static_cast<double>(wanted)));
    }
  }
  RecordProperty("largest_deviation", std::to_string(largest * 1e15) + "e-15");
}

TEST(ExponentialClocks, FindTheLeastCutOverAllSets) {
  SmallLawsSource source(2);
  for (int i = 0; i < 5000; ++i) {
    const SmallLaws laws = source.next(10, 8, false);
    const RatioTable table = laws.table();
    std::vector<long double> target;
    for (Token x = 0; x < table.vocabulary(); ++x) target.push_back(table.target(x));
    std::map<TokenSet, long double> sets;
    const auto law = drawn_sets(table, laws.drafts);
    for (TokenSet set = 0; set < law.size(); ++set)
      if (law[set] > 0) sets[set] = law[set];
    const Optimum found = without_replacement_optimum(table, laws.drafts);
    ASSERT_NEAR(found.acceptance, static_cast<double>(cut_optimum<long double>(target, sets)), clock_tolerance) << i;
  }
}

// The step of the proof that prefixes suffice: adding j to S gains at least as much per unit of q as i in S is worth.
TEST(ExponentialClocks, GainsPerUnitOfProposalGrowWithTheSet) {
  SmallLawsSource source(3);
  for (int i = 0; i < 60; ++i) {
    const SmallLaws laws = source.next(5, 4, false);
    const auto sets = laws.sets(*registry().drafter("without_replacement"));
    const auto& q = laws.proposals.front();
    const auto support = std::count_if(q.begin(), q.end(), [](const Rational& mass) { return mass > 0; });
    if (support < laws.drafts) continue;
    const auto within = [&](TokenSet s) {
      Rational sum = 0;
      for (const auto& [set, probability] : sets)
        if ((set & ~s) == 0) sum += probability;
      return sum;
    };
    for (TokenSet s = 0; s < TokenSet{1} << q.size(); ++s)
      for (std::size_t in = 0; in < q.size(); ++in)
        for (std::size_t out = 0; out < q.size(); ++out) {
          if (!(s >> in & 1) || (s >> out & 1) || q[in] == 0 || q[out] == 0) continue;
          const Rational worth = within(s) - within(s & ~(TokenSet{1} << in));
          const Rational gain = within(s | TokenSet{1} << out) - within(s);
          ASSERT_LE(worth * q[out], gain * q[in]);
        }
  }
}

TEST(ExponentialClocks, AtTwoDraftsAgreeWithTheClosedForm) {
  // Pr(both in S) = sum over S of q (q(S) - q) / (1 - q), at a size where enumeration is out of reach.
  const int vocabulary = 4000;
  std::vector<double> p, q;
  double p_sum = 0, q_sum = 0;
  for (int x = 0; x < vocabulary; ++x) {
    p_sum += p.emplace_back(1.0 / (1 + (x * 37) % vocabulary));
    q_sum += q.emplace_back(std::pow(1 + (x * 53) % vocabulary, -1.3));
  }
  for (double& value : p) value /= p_sum;
  for (double& value : q) value /= q_sum;
  const RatioTable table(p, q);
  const auto missed = missed_without_replacement(table, 2);
  const auto order = table.order();
  for (std::size_t j = 0; j < order.size(); j += 61) {
    long double inside = 0, both = 0;
    for (std::size_t i = j; i < order.size(); ++i) inside += table.proposal(order[i]);
    for (std::size_t i = j; i < order.size(); ++i) {
      const long double one = table.proposal(order[i]);
      both += one * (inside - one) / (1 - one);
    }
    ASSERT_NEAR(missed[j], static_cast<double>(1 - both), clock_tolerance) << j;
  }
}

TEST(ExponentialClocks, MoreDraftsThanTheSupportAreWorthTheSupport) {
  const RatioTable table(std::vector<double>{0.25, 0.25, 0.5}, std::vector<double>{0.5, 0.5, 0});
  for (const int drafts : {2, 3, 8}) EXPECT_EQ(without_replacement_optimum(table, drafts).acceptance, 0.5);
  EXPECT_EQ(without_replacement_optimum(table, 1).acceptance, 0.5);
}

TEST(ExponentialClocks, AreNeverBelowDraftsWithReplacement) {
  SmallLawsSource source(4);
  for (int i = 0; i < 500; ++i) {
    const SmallLaws laws = source.next(10, 8, false);
    const RatioTable table = laws.table();
    const auto& q = laws.proposals.front();
    if (std::count_if(q.begin(), q.end(), [](const Rational& mass) { return mass > 0; }) < laws.drafts) continue;
    ASSERT_GE(without_replacement_optimum(table, laws.drafts).acceptance,
              iid_optimum(table, laws.drafts).acceptance - clock_tolerance);
  }
}

}  // namespace
}  // namespace draftproof
