// The scan of fresh rows and the scan of a ratio table give equal bits and equal cuts. Both are compared with long
// double at the size of a real vocabulary.
#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/captures/family.hpp>
#include <draftproof/optimum/exponential_clocks.hpp>
#include <draftproof/optimum/fresh_scan.hpp>
#include <draftproof/tests/support/random_laws.hpp>

namespace draftproof {
namespace {

void expect_same(const std::vector<double>& p, const std::vector<double>& q, int drafts) {
  const Optimum sorted = iid_optimum(RatioTable(p, q), drafts), fresh = fresh_iid_optimum(p, q, drafts);
  ASSERT_EQ(sorted.acceptance, fresh.acceptance);
  ASSERT_EQ(sorted.cut, fresh.cut);
}

TEST(FreshScan, EqualsTheScanOfATableOnSmallLaws) {
  SmallLawsSource source(51);
  for (int i = 0; i < 5000; ++i) {
    const SmallLaws laws = source.next(12, 8, false);
    expect_same(exact::as_doubles(laws.target), exact::as_doubles(laws.proposals.front()), laws.drafts);
  }
}

/// Rows whose ratios lie within `spread` octaves of each other: from all in one bucket to open buckets at both ends.
TEST(FreshScan, EqualsTheScanOfATableHoweverTheRatiosLie) {
  SmallLawsSource source(52);
  for (const double spread : {0.0, 1e-9, 1e-5, 0.01, 0.3, 4.0, 40.0})
    for (int i = 0; i < 30; ++i) {
      std::vector<double> p, q;
      double p_sum = 0, q_sum = 0;
      for (int x = 0; x < 2000; ++x) {
        q_sum += q.emplace_back(std::exp(-source.below(1000) / 90.0));
        p_sum += p.emplace_back(q.back() * std::exp2(spread * source.below(1000) / 1000.0));
      }
      for (double& value : p) value /= p_sum;
      for (double& value : q) value /= q_sum;
      for (const int drafts : {1, 2, 4, 16}) expect_same(p, q, drafts);
    }
}

/// Few tokens are scanned by another method than many.
TEST(FreshScan, EqualsTheScanOfATableFromOneTokenOn) {
  SmallLawsSource source(53);
  for (std::size_t vocabulary = 1; vocabulary <= 260; ++vocabulary) {
    std::vector<double> p(vocabulary), q(vocabulary);
    double p_sum = 0, q_sum = 0;
    for (std::size_t x = 0; x < vocabulary; ++x) {  // zeros and equal ratios among them
      p_sum += p[x] = x > 0 && source.below(8) == 0 ? 0 : 1.0 + source.below(6);
      q_sum += q[x] = x > 0 && source.below(8) == 0 ? 0 : 1.0 + source.below(6);
    }
    for (std::size_t x = 0; x < vocabulary; ++x) p[x] /= p_sum, q[x] /= q_sum;
    for (const int drafts : {1, 2, 4, 16}) expect_same(p, q, drafts);
  }
}

class OfARealVocabulary : public ::testing::Test {
 protected:
  static constexpr int drafts = 4;
  const RowPair pair = (registry(), parse_family("gaussian_logits:sigma=2.5,noise=1,vocabulary=128256")).pair(7, 0);
  const std::vector<double>& p = pair.target;
  const std::vector<double>& q = pair.proposals.front();

  /// Tokens by rising ratio of the rows.
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
  // The table's rows are within V 2^-62 + |1 - sum| of these in total variation, and the optimum moves by at most
  // that of p plus K times that of q; K + 2 roundings in addition. The goal is 1e-10.
  const auto moved = [&](long double sum) {
    return std::abs(1 - sum) + static_cast<long double>(p.size()) * 0x1p-62L;
  };
  const auto tolerance = static_cast<double>(moved(p_sum) + drafts * moved(q_sum)) + (drafts + 2) * 0x1p-53;
  EXPECT_LT(tolerance, 1e-12);
  EXPECT_NEAR(fresh_iid_optimum(p, q, drafts).acceptance, static_cast<double>(least), tolerance);
}

/// The same integral by another grid: step 1/10 in log t, no doubling, no node left out, in long double.
TEST_F(OfARealVocabulary, TheOptimumWithoutReplacementIsThatOfLongDouble) {
  const RatioTable table(p, q);
  const Optimum found = without_replacement_optimum(table, drafts);
  const auto order = table.order();
  const auto prefix = table.exact_prefix();
  // Around the cut found c is 0.1 and more, so t up to 1000 is all there is.
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
    long double missed = c * times.front();  // before the first node: c t, nothing has bin
    for (std::size_t n = 0; n < times.size(); ++n)
      missed += (n == 0 ? 0.05L : 0.1L) * c * times[n] * std::exp(-c * times[n]) *
                (counts[n][0] + counts[n][1] + counts[n][2] + counts[n][3]);
    const long double inside = 1 - static_cast<long double>(prefix[j].target) * 0x1p-62L;
    least = std::min(least, inside + missed);
  }
  // Half a weight at the first node errs by h^2 / 12 of c t = 1e-12. V updates of a node err by at most V 2^-53
  // = 1.5e-11.
  EXPECT_NEAR(found.acceptance, static_cast<double>(least), 1.6e-11);
  RecordProperty("deviation",
                 std::to_string(std::abs(found.acceptance - static_cast<double>(least)) * 1e15) + "e-15");
  EXPECT_LT(least, 1);
}

}  // namespace
}  // namespace draftproof
