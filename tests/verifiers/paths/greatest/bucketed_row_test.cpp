// The greatest path's row by passes: law, excess, weights and draws against the definition token by token, on rows
// with zeros and ties, at every register width; and the number of passes of a sum.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/verifiers/paths/greatest/bucketed_row.hpp>
#include <draftproof/verifiers/paths/greatest/token_order.hpp>

namespace draftproof {
namespace {

/// Rows and the law of the greatest path's token, by sorting.
template <class Entry>
struct RankedByHand {
  std::vector<Entry> p, q;
  MaxOfKPaths<double> max_of_k{2, 0, 1};
  std::vector<double> below{}, law{};

  RankedByHand(std::vector<Entry> target, std::vector<Entry> proposal, const MaxOfKPaths<double>& with)
      : p{std::move(target)}, q{std::move(proposal)}, max_of_k{with}, below(p.size(), 0), law(p.size(), 0) {
    const FreshRows<Entry> laws = rows();
    const TokenOrder<FreshRows<Entry>> order(laws);
    std::vector<Token> drafted;
    for (Token x = 0; x < laws.vocabulary(); ++x)
      if (laws.proposal(x) > 0) drafted.push_back(x);
    std::ranges::sort(drafted, [&order](Token x, Token y) { return order.above(y, x); });
    double total = 0;
    for (const Token x : drafted) {
      below[static_cast<std::size_t>(x)] = total;
      total += laws.proposal(x);
    }
    const auto power = [this](double mass) { return std::pow(max_of_k.under(mass), max_of_k.paths); };
    for (const Token x : drafted) {
      const double lo = below[static_cast<std::size_t>(x)], hi = lo + laws.proposal(x);
      law[static_cast<std::size_t>(x)] = (power(hi) - power(lo)) / (power(total) - power(0));
    }
  }
  FreshRows<Entry> rows() const { return {p, q}; }
  double left(Token x, double c) const {
    const auto i = static_cast<std::size_t>(x);
    return std::max(c * static_cast<double>(p[i]) - law[i], 0.0);
  }
  double excess(double c) const {
    double sum = 0;
    for (Token x = 0; x < static_cast<Token>(p.size()); ++x) sum += left(x, c);
    return sum;
  }
};

/// Laws `sigma` nats apart in steps of `step`; some tokens have no q, others no p.
template <class Entry>
RankedByHand<Entry> by_hand(std::uint32_t seed, int vocabulary, double sigma, double step,
                            const MaxOfKPaths<double>& max_of_k) {
  std::mt19937 words(seed);
  std::normal_distribution<double> normal;
  std::vector<double> p, q;
  double p_sum = 0, q_sum = 0;
  for (Token x = 0; x < vocabulary; ++x) {
    const double logit = 2 * normal(words),
                 shift = step > 0 ? std::round(normal(words) / step) * step : normal(words);
    p_sum += p.emplace_back(x % 11 == 3 ? 0 : std::exp(logit + sigma * shift));
    q_sum += q.emplace_back(x % 13 == 5 ? 0 : std::exp(logit));
  }
  const auto entries = [](const std::vector<double>& row, double sum) {
    std::vector<Entry> made;
    for (const double weight : row) made.push_back(static_cast<Entry>(weight / sum));
    return made;
  };
  return {entries(p, p_sum), entries(q, q_sum), max_of_k};
}

/// A target equal to the law of the greatest path's token, so that at c = 1 all buckets cross.
RankedByHand<double> tangent(int vocabulary, const MaxOfKPaths<double>& max_of_k) {
  std::mt19937 words(3);
  std::exponential_distribution<double> weight;
  std::vector<double> q;
  double sum = 0;
  for (int x = 0; x < vocabulary; ++x) sum += q.emplace_back(weight(words));
  for (double& entry : q) entry /= sum;
  // Ratios that rise with the id, in the order of the resulting law.
  std::vector<double> rising;
  for (int x = 0; x < vocabulary; ++x) rising.push_back(q[static_cast<std::size_t>(x)] * std::pow(2.0, x / 8.0 - 90));
  return {RankedByHand<double>(rising, q, max_of_k).law, q, max_of_k};
}

template <class Entry>
void expect_definition(const RankedByHand<Entry>& wanted, double c) {
  using L = FreshRows<Entry>;
  const L laws = wanted.rows();
  const double close = 1e-13;  // sums of V terms of 2^-60 and of a few roundings each; powers of some more
  double sum = 0;
  for (Token x = 0; x < laws.vocabulary(); ++x) {
    if (!(laws.proposal(x) > 0)) continue;
    const PlacedToken placed = BucketedRow<L>::placed(laws, wanted.max_of_k, x);
    const double law = BucketedRow<L>(laws, placed).law();
    sum += law;
    EXPECT_NEAR(placed.below, wanted.below[static_cast<std::size_t>(x)], close);
    EXPECT_NEAR(law, wanted.law[static_cast<std::size_t>(x)], close);
  }
  EXPECT_NEAR(sum, 1, close);
  Token any = 0;
  while (!(laws.proposal(any) > 0)) ++any;
  const BucketedRow<L> row(laws, BucketedRow<L>::placed(laws, wanted.max_of_k, any));
  typename BucketedRow<L>::Excess excess;
  row.excess(c, excess);
  const Fixed total = excess.total;
  EXPECT_NEAR(from_fixed(total), wanted.excess(c), close);
  std::map<Token, double> weight, drawn;
  row.for_each(c, [&](Token x, double left) {
    EXPECT_GT(left, 0);
    weight[x] += left;
  });
  double left = 0;
  for (Token x = 0; x < laws.vocabulary(); ++x) {
    EXPECT_NEAR(weight[x], wanted.left(x, c), close) << x;
    left += weight[x];
  }
  EXPECT_NEAR(left, from_fixed(total), close);
  if (left < 1e-9) return;  // digits of a few units
  constexpr std::uint64_t count = 1 << 10;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Token x = row.draw(c, excess, i << 54);
    ASSERT_GE(x, 0);
    ++drawn[x];
  }
  for (const auto& [x, times] : drawn) ASSERT_GT(weight[x], 0) << x;
  // Equally spaced words fall into an interval of the running sum at most once too often or too rarely at each end.
  for (const auto& [x, w] : weight) ASSERT_NEAR(drawn[x], w / left * static_cast<double>(count), 2) << x;
}

const std::vector<MaxOfKPaths<double>> fans_by_hand{
    {2, 0, 1}, {8, 0, 1}, {3, 0.25, 0.75}, {5, 0.9, 0.1}, {4, 0.05, 0.95}};

TEST(BucketedRowByPasses, IsThatOfTheDefinition) {
  std::uint32_t seed = 0;
  for (const auto& max_of_k : fans_by_hand)
    for (const int vocabulary : {2, 3, 17, 64, 150})
      for (const double sigma : {0.0, 0.02, 0.3, 1.5, 6.0}) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << " V " << vocabulary << " sigma " << sigma << " K "
                                        << max_of_k.paths << " B " << max_of_k.below);
        const double step = seed % 2 ? 0.5 : 0, c = 0.1 * (1 + seed++ % 10);
        expect_definition(by_hand<double>(seed, vocabulary, sigma, step, max_of_k), c);
        expect_definition(by_hand<float>(seed + 1000, vocabulary, sigma, step, max_of_k), c);
        if (testing::Test::HasFailure()) return;
      }
}

TEST(BucketedRowByPasses, WeighsMoreBucketsThanItsListHolds) {
  const MaxOfKPaths<double> max_of_k{4, 0.02, 0.98};
  const auto wanted = tangent(200, max_of_k);
  expect_definition(wanted, 1);
  expect_definition(wanted, 0.97);
  using L = FreshRows<double>;
  const L laws = wanted.rows();
  const BucketedRow<L> row(laws, BucketedRow<L>::placed(laws, max_of_k, 0));
  const std::uint64_t before = laws.visited();
  BucketedRow<L>::Excess excess;
  row.excess(1, excess);
  EXPECT_GT(laws.visited() - before, 2 * 8 * wanted.p.size());
}

TEST(BucketedRowByPasses, TakesFewPassesAsARule) {
  for (const double sigma : {0.02, 0.3, 1.0, 2.0})
    for (const int paths : {2, 4, 8}) {
      const auto rows = by_hand<float>(7, 20000, sigma, 0, {paths, 0, 1});
      const auto laws = rows.rows();
      const BucketedRow<FreshRows<float>> row(laws, {{paths, 0, 1}, 0, 0, 1});
      for (const double c : {0.3, 0.9}) {
        const std::uint64_t before = laws.visited();
        BucketedRow<FreshRows<float>>::Excess excess;
        row.excess(c, excess);
        EXPECT_LE(laws.visited() - before, 9 * rows.p.size()) << sigma << ", K = " << paths << ", c = " << c;
      }
    }
}

TEST(BucketedRowByPasses, IsTheSameAtEveryWidth) {
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    const MaxOfKPaths<double> max_of_k = fans_by_hand[seed % fans_by_hand.size()];
    const auto rows = by_hand<float>(seed, 3001, seed < 3 ? 0.0 : 0.4, seed % 2 ? 0.5 : 0, max_of_k);
    const auto laws = rows.rows();
    using L = FreshRows<float>;
    struct Seen {
      Fixed excess;
      double below, total;
      std::vector<Token> drawn;
      bool operator==(const Seen&) const = default;
    };
    std::vector<Seen> seen;
    for (const simd::Width width : simd::widths) {
      if (width > simd::widest()) continue;
      const simd::Using here(width);
      const PlacedToken placed = BucketedRow<L>::placed(laws, max_of_k, 1234);
      const BucketedRow<L> row(laws, placed);
      BucketedRow<L>::Excess excess;
      row.excess(0.8, excess);
      Seen& now = seen.emplace_back(Seen{excess.total, placed.below, placed.total, {}});
      for (std::uint64_t i = 0; i < 64; ++i) now.drawn.push_back(row.draw(0.8, excess, i << 58 | i));
    }
    for (const Seen& other : seen) EXPECT_EQ(other, seen.front()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace draftproof
