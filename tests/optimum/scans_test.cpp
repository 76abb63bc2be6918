// Tests of the scans for the optimum: the scan of a ratio table, the scan of rows without a table (fresh_scan.hpp), the
// scan of a device, and the scan for drafts without replacement.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <draftproof/captures/family.hpp>
#include <draftproof/optimum/fresh_scan.hpp>
#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/optimum/race_acceptance.hpp>
#include <draftproof/optimum/set_distribution.hpp>
#include <draftproof/properties/prover/arbitrary.hpp>
#include <draftproof/tests/support/exact.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/tests/support/gpu/distribution_rows.hpp>
#include <draftproof/tests/support/gpu/host_distributions.hpp>
#include <draftproof/tests/support/random_distributions.hpp>

namespace draftproof {
namespace {

/// The sum of the scan's error, (K + 2) 2^-53, and of the error of its input: rows as doubles are within 2^-53 + V
/// 2^-62 of the fractions in total variation, and the optimum changes by at most the distance of p plus K times the
/// distance of q.
double tolerance(int drafts) { return (2 * drafts + 4) * 0x1p-53; }

RC_GTEST_PROP(RatioScan, IsTheLeastCutOverAllSets, (const Instance& instance)) {
  const auto p = normalised(instance.target), q = normalised(instance.proposals.front());
  Rational least = 1;
  for (std::size_t set = 0; set < std::size_t{1} << p.size(); ++set) {
    Rational in_p = 0, in_q = 0;
    for (std::size_t x = 0; x < p.size(); ++x)
      if (set >> x & 1) {
        in_p += p[x];
        in_q += q[x];
      }
    least = std::min<Rational>(least, in_p + 1 - exact::power(in_q, instance.drafts));
  }
  const RatioTable table(exact::as_doubles(p), exact::as_doubles(q));
  const Optimum found = iid_optimum(table, instance.drafts);
  RC_ASSERT(std::abs(found.acceptance - static_cast<double>(least)) <= tolerance(instance.drafts));

  // The set of the cut consists of the tokens from index `cut` on in the table's order.
  Rational in_p = 0, in_q = 0;
  for (std::size_t j = found.cut; j < table.order().size(); ++j) {
    in_p += p[static_cast<std::size_t>(table.order()[j])];
    in_q += q[static_cast<std::size_t>(table.order()[j])];
  }
  const Rational attained = in_p + 1 - exact::power(in_q, instance.drafts);
  RC_ASSERT(std::abs(static_cast<double>(attained) - found.acceptance) <= tolerance(instance.drafts));
}

TEST(RatioScan, EqualDistributionsAreAlwaysAcceptedAndDisjointOnesNever) {
  const std::vector<double> p{0.25, 0.75, 0, 0}, q{0, 0, 0.5, 0.5};
  for (const int drafts : {1, 2, 8}) {
    EXPECT_EQ(iid_optimum(RatioTable(p, p), drafts).acceptance, 1);
    EXPECT_EQ(iid_optimum(RatioTable(p, q), drafts).acceptance, 0);
  }
}

// Tests that the scan of fresh rows gives bit for bit the same optimum and cut as the scan of a table, and compares
// both scans with an optimum in long double at V = 128256.

void expect_same(const std::vector<double>& p, const std::vector<double>& q, int drafts) {
  const Optimum sorted = iid_optimum(RatioTable(p, q), drafts), fresh = fresh_iid_optimum(p, q, drafts);
  ASSERT_EQ(sorted.acceptance, fresh.acceptance);
  ASSERT_EQ(sorted.cut, fresh.cut);
}

TEST(FreshScan, EqualsTheScanOfATableOnSmallDistributions) {
  SmallDistributionsSource source(51);
  for (int i = 0; i < 5000; ++i) {
    const SmallDistributions distributions = source.next(12, 8, false);
    expect_same(exact::as_doubles(distributions.target), exact::as_doubles(distributions.proposals.front()),
                distributions.drafts);
  }
}

/// Compares rows whose ratios lie within `spread` octaves: for 0 all ratios are in one bucket, for 40 in buckets at
/// both ends.
TEST(FreshScan, EqualsTheScanOfATableHoweverTheRatiosLie) {
  SmallDistributionsSource source(52);
  for (const double spread : {0.0, 1e-9, 1e-5, 0.01, 0.3, 4.0, 40.0})
    for (int i = 0; i < 30; ++i) {
      std::vector<double> p, q;
      for (int x = 0; x < 2000; ++x) {
        q.push_back(std::exp(-source.below(1000) / 90.0));
        p.push_back(q.back() * std::exp2(spread * source.below(1000) / 1000.0));
      }
      for (const int drafts : {1, 2, 4, 16}) expect_same(examples::normalised(p), examples::normalised(q), drafts);
    }
}

/// Rows with few tokens are scanned by another method than rows with many.
TEST(FreshScan, EqualsTheScanOfATableFromOneTokenOn) {
  SmallDistributionsSource source(53);
  for (std::size_t vocabulary = 1; vocabulary <= 260; ++vocabulary) {
    std::vector<double> p(vocabulary), q(vocabulary);
    for (std::size_t x = 0; x < vocabulary; ++x) {  // with zeros and equal ratios
      p[x] = x > 0 && source.below(8) == 0 ? 0 : 1.0 + source.below(6);
      q[x] = x > 0 && source.below(8) == 0 ? 0 : 1.0 + source.below(6);
    }
    for (const int drafts : {1, 2, 4, 16}) expect_same(examples::normalised(p), examples::normalised(q), drafts);
  }
}

class OfARealVocabulary : public ::testing::Test {
 protected:
  static constexpr int drafts = 4;
  const RowPair pair = (registry(), parse_family("gaussian_logits:sigma=2.5,noise=1,vocabulary=128256")).pair(7, 0);
  const std::vector<double>& p = pair.target;
  const std::vector<double>& q = pair.proposals.front();

  /// Returns the tokens by rising p / q.
  std::vector<std::size_t> rising() const {
    std::vector<std::size_t> order(p.size());
    for (std::size_t x = 0; x < order.size(); ++x) order[x] = x;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return static_cast<long double>(p[a]) * q[b] < static_cast<long double>(p[b]) * q[a];
    });
    return order;
  }
};

TEST_F(OfARealVocabulary, TheIidOptimumIsThatOfLongDouble) {
  long double in_p = 0, in_q = 0, least = 1, p_sum = 0, q_sum = 0;
  for (std::size_t x = 0; x < p.size(); ++x) p_sum += p[x], q_sum += q[x];
  for (const std::size_t x : rising()) {
    in_p += p[x] / p_sum;
    in_q += q[x] / q_sum;
    least = std::min(least, in_p + (1 - in_q * in_q * in_q * in_q));
  }
  expect_same(p, q, drafts);
  // In total variation, the table's rows are within V 2^-62 + |1 - sum| of p and q. The optimum changes by at most the
  // distance of p plus K times the distance of q, and the scan adds K + 2 roundings. The documented error is 1e-10.
  const auto moved = [&](long double sum) {
    return std::abs(1 - sum) + static_cast<long double>(p.size()) * 0x1p-62L;
  };
  const auto tolerance = static_cast<double>(moved(p_sum) + drafts * moved(q_sum)) + (drafts + 2) * 0x1p-53;
  EXPECT_LT(tolerance, 1e-12);
  EXPECT_NEAR(fresh_iid_optimum(p, q, drafts).acceptance, static_cast<double>(least), tolerance);
}

/// Compares with the integral in long double on another grid, with steps of 1/10 in log t and every 1 - e^(-qt) from
/// expm1. The function under test computes 1 - e^(-qt) by doubling from octave to octave.
TEST_F(OfARealVocabulary, TheOptimumWithoutReplacementIsThatOfLongDouble) {
  const RatioTable table(p, q);
  const Optimum found = without_replacement_optimum(table, drafts);
  const auto order = table.order();
  const auto prefix = table.exact_prefix();
  // Near the optimal cut, c, the q-mass outside S, is at least 0.1, so t above 1000 contributes less than rounding.
  std::vector<long double> times;
  for (int n = 0; n <= 280; ++n) times.push_back(1e-9L * std::exp(n * 0.1L));
  std::vector<std::array<long double, drafts>> counts(times.size(), {1, 0, 0, 0});
  long double least = 1;
  for (std::size_t j = order.size(); j-- > 0;) {
    const long double rate = table.proposal(order[j]);
    for (std::size_t n = 0; n < times.size(); ++n) {
      if (counts[n][0] + counts[n][1] + counts[n][2] + counts[n][3] < 1e-25L) continue;
      const long double y = -std::expm1(-rate * times[n]);
      for (int k = drafts; k-- > 1;)
        counts[n][static_cast<std::size_t>(k)] +=
            y * (counts[n][static_cast<std::size_t>(k - 1)] - counts[n][static_cast<std::size_t>(k)]);
      counts[n][0] -= y * counts[n][0];
    }
    if (std::abs(static_cast<double>(j) - static_cast<double>(found.cut)) > 300) continue;
    const long double c = static_cast<long double>(prefix[j].proposal) * 0x1p-62L;
    long double missed = c * times.front();  // the integral before the first node t is c t
    for (std::size_t n = 0; n < times.size(); ++n)
      missed += (n == 0 ? 0.05L : 0.1L) * c * times[n] * std::exp(-c * times[n]) *
                (counts[n][0] + counts[n][1] + counts[n][2] + counts[n][3]);
    const long double inside = 1 - static_cast<long double>(prefix[j].target) * 0x1p-62L;
    least = std::min(least, inside + missed);
  }
  // The trapezoidal rule halves the weight of the first node, with an error of h^2 / 12 times c t = 1e-12. V updates of
  // a node have an error of at most V 2^-53 = 1.5e-11.
  EXPECT_NEAR(found.acceptance, static_cast<double>(least), 1.6e-11);
  RecordProperty("deviation",
                 std::to_string(std::abs(found.acceptance - static_cast<double>(least)) * 1e15) + "e-15");
  EXPECT_LT(least, 1);
}

// Tests that the device's code, run on fibers, has bit for bit the results of both scans of the host.

void expect_optima_of_the_host(const std::vector<parity::DistributionRows>& distributions, std::int64_t turn) {
  const std::vector<int> drafts{1, 3, 8};
  const parity::DistributionBatch<float> batch(distributions);
  parity::HostMachine machine(2, 8);
  const parity::HostDistributions rows(machine, batch.batch());
  const auto found = parity::host_optima(machine, rows.fixed(), drafts, turn);
  for (std::size_t i = 0; i < distributions.size(); ++i) {
    const std::vector<double> p(distributions[i][0].begin(), distributions[i][0].end()),
        q(distributions[i][1].begin(), distributions[i][1].end());
    const RatioTable table(p, q);
    for (std::size_t k = 0; k < drafts.size(); ++k) {
      const Optimum sorted = iid_optimum(table, drafts[k]), fresh = fresh_iid_optimum(p, q, drafts[k]);
      ASSERT_EQ(std::bit_cast<std::uint64_t>(found[k][i].acceptance),
                std::bit_cast<std::uint64_t>(sorted.acceptance));
      ASSERT_EQ(found[k][i].cut, sorted.cut);
      ASSERT_EQ(std::bit_cast<std::uint64_t>(found[k][i].acceptance), std::bit_cast<std::uint64_t>(fresh.acceptance));
      ASSERT_EQ(found[k][i].cut, fresh.cut);
    }
  }
}

TEST(DeviceOptimum, EqualsTheScansOfTheHost) {
  for (const int vocabulary : {2, 3, 17, 128, 129, 1000, 5000}) {
    std::vector<parity::DistributionRows> distributions;
    for (int i = 0; i < 2 * parity::distribution_shapes; ++i)
      distributions.emplace_back(vocabulary, 1,
                                 static_cast<parity::DistributionShape>(i % parity::distribution_shapes),
                                 static_cast<std::uint64_t>(i));
    for (const std::int64_t turn : {1, 5, 100}) expect_optima_of_the_host(distributions, turn);
  }
}

TEST(DeviceOptimum, EqualsTheScansOfTheHostOnARealVocabulary) {
  expect_optima_of_the_host({parity::DistributionRows(128256, 1, parity::DistributionShape::peaked, 3)}, 1);
}

/// Repeats the operations that compute the value of a cut, so that a change of the source that host and device share is
/// detected if it changes a bit of the value.
TEST(DeviceOptimum, ReadsTheValueOfACutAsItAlwaysWas) {
  std::uint64_t state = 1;
  const auto next = [&state] { return unit_interval(state = state * 6364136223846793005u + 1442695040888963407u); };
  for (int i = 0; i < 10000; ++i) {
    const double p = next(), q = next();
    volatile double inside = 1 - q, target_inside = 1 - p, power = 1;
    for (int drafts = 0; drafts < 20; ++drafts) {
      volatile const double missed = target_inside - power;
      ASSERT_EQ(std::bit_cast<std::uint64_t>(cut_value(p, q, drafts)), std::bit_cast<std::uint64_t>(1 + missed));
      power = power * inside;
    }
    ASSERT_EQ(truncated_mass(p), static_cast<std::uint64_t>(p * 0x1p62));
  }
}

// Tests of drafts without replacement: compares integrals over a race of exponential clocks with sums over all drawn
// sets.

/// Returns, for each set A, Pr(the first K drafts are the set A), computed from the sets with one token fewer. The mass
/// of tokens that are not drawn yet is summed, because 1 minus the drawn mass would cancel.
std::vector<long double> drawn_sets(const RatioTable& table, int drafts) {
  const int vocabulary = table.vocabulary();
  std::vector<long double> distribution(std::size_t{1} << vocabulary, 0);
  distribution[0] = 1;
  for (TokenSet set = 0; set < distribution.size(); ++set) {
    long double unseen = 0;
    for (Token x = 0; x < vocabulary; ++x)
      if (!(set >> x & 1)) unseen += table.proposal(x);
    if (std::popcount(set) == drafts || unseen == 0) continue;
    for (Token x = 0; x < vocabulary; ++x)
      if (!(set >> x & 1)) distribution[set | TokenSet{1} << x] += distribution[set] * table.proposal(x) / unseen;
    distribution[set] = 0;
  }
  return distribution;
}

/// The sum of the quadrature's error of 1e-14, of V + nodes roundings of the sums, and of the doubling of 1 - e^(-qt)
/// over at most 90 octaves.
constexpr double clock_tolerance = 1e-13;

TEST(ExponentialClocks, GiveEveryPrefixItsProbability) {
  SmallDistributionsSource source(1);
  double largest = 0;
  for (int instance = 0; instance < 5000; ++instance) {
    const SmallDistributions distributions = source.next(10, 8, false);
    const RatioTable table = distributions.table();
    const auto distribution = drawn_sets(table, distributions.drafts);
    const auto missed = missed_without_replacement(table, distributions.drafts);
    const auto order = table.order();
    ASSERT_EQ(missed.size(), order.size() + 1);
    for (std::size_t j = 0; j <= order.size(); ++j) {
      TokenSet outside = 0;
      for (std::size_t i = 0; i < j; ++i) outside |= TokenSet{1} << order[i];
      long double wanted = 0;
      for (TokenSet set = 0; set < distribution.size(); ++set)
        if (set & outside) wanted += distribution[set];
      ASSERT_NEAR(missed[j], static_cast<double>(wanted), clock_tolerance) << instance << " prefix " << j;
      largest = std::max(largest, std::abs(missed[j] - static_cast<double>(wanted)));
    }
  }
  RecordProperty("largest_deviation", std::to_string(largest * 1e15) + "e-15");
}

TEST(ExponentialClocks, FindTheLeastCutOverAllSets) {
  SmallDistributionsSource source(2);
  for (int i = 0; i < 5000; ++i) {
    const SmallDistributions distributions = source.next(10, 8, false);
    const RatioTable table = distributions.table();
    std::vector<long double> target;
    for (Token x = 0; x < table.vocabulary(); ++x) target.push_back(table.target(x));
    std::map<TokenSet, long double> sets;
    const auto distribution = drawn_sets(table, distributions.drafts);
    for (TokenSet set = 0; set < distribution.size(); ++set)
      if (distribution[set] > 0) sets[set] = distribution[set];
    const Optimum found = without_replacement_optimum(table, distributions.drafts);
    ASSERT_NEAR(found.acceptance, static_cast<double>(cut_optimum<long double>(target, sets)), clock_tolerance) << i;
  }
}

// The proof that only prefixes need to be compared uses this inequality: for j outside S and i in S, adding j to S
// increases Pr(all drafts in S), divided by q(j), by at least as much as removing i decreases it, divided by q(i).
TEST(ExponentialClocks, GainsPerUnitOfProposalGrowWithTheSet) {
  SmallDistributionsSource source(3);
  for (int i = 0; i < 60; ++i) {
    const SmallDistributions distributions = source.next(5, 4, false);
    const auto sets = distributions.sets(*registry().drafter("without_replacement"));
    const auto& q = distributions.proposals.front();
    const auto support = std::count_if(q.begin(), q.end(), [](const Rational& mass) { return mass > 0; });
    if (support < distributions.drafts) continue;
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
  // Pr(both drafts in S) is the sum over S of q (q(S) - q) / (1 - q). V is too large for an enumeration of all sets.
  const int vocabulary = 4000;
  std::vector<double> p, q;
  for (int x = 0; x < vocabulary; ++x) {
    p.push_back(1.0 / (1 + (x * 37) % vocabulary));
    q.push_back(std::pow(1 + (x * 53) % vocabulary, -1.3));
  }
  const RatioTable table(examples::normalised(p), examples::normalised(q));
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
  SmallDistributionsSource source(4);
  for (int i = 0; i < 500; ++i) {
    const SmallDistributions distributions = source.next(10, 8, false);
    const RatioTable table = distributions.table();
    const auto& q = distributions.proposals.front();
    if (std::count_if(q.begin(), q.end(), [](const Rational& mass) { return mass > 0; }) < distributions.drafts)
      continue;
    ASSERT_GE(without_replacement_optimum(table, distributions.drafts).acceptance,
              iid_optimum(table, distributions.drafts).acceptance - clock_tolerance);
  }
}

}  // namespace
}  // namespace draftproof
