// Tests of the residual (c p - d)+, where d is the distribution of the chosen path's next token, for the greatest path
// and for ladders.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/properties/instances/instance_text.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/verifiers/ladder/chosen_path.hpp>
#include <draftproof/verifiers/paths/greatest/bucketed_row.hpp>
#include <draftproof/verifiers/paths/greatest/greatest_row.hpp>
#include <draftproof/verifiers/paths/greatest/order_buckets.hpp>

namespace draftproof {
namespace {

/// Returns a row of small weights with zeros and ties among them.
std::vector<Rational> few_weights(std::mt19937& words, int vocabulary) {
  std::vector<int> weights(static_cast<std::size_t>(vocabulary), 0);
  for (int i = 0; i < 2 * vocabulary; ++i) ++weights[words() % weights.size()];
  return normalised(weights);
}

/// Expects that `excess_of` and `for_each` give the sum and the weights of (c p - distribution)+ for c = 1/12 .. 1.
/// Returns the number of c for which several tokens, but not nearly all, have weight.
template <class Distribution, class Excess, class ForEach>
int expect_left_over(const Rows<Rational>& distributions, const Distribution& distribution, const Excess& excess_of,
                     const ForEach& for_each) {
  int split = 0;
  for (int twelfths = 1; twelfths <= 12; ++twelfths) {
    const Rational c(twelfths, 12);
    Rational excess(0);
    std::map<Token, Rational> wanted, found;
    for (Token y = 0; y < distributions.vocabulary(); ++y)
      if (const Rational left = c * distributions.target(y) - distribution(y); left > Rational(0))
        excess += wanted[y] = left;
    for_each(c, [&](Token x, const Rational& weight) { found[x] += weight; });
    EXPECT_EQ(excess_of(c), excess) << "c = " << twelfths << " / 12";
    EXPECT_EQ(found, wanted);
    split += wanted.size() > 1 && std::ssize(wanted) + 1 < distributions.vocabulary();
  }
  return split;
}

/// Expects that excess, weights and draws of `left` agree with the 600 weights above(x), computed in double.
template <class Left, class Above>
void expect_weights_and_draws(const Left& left, double c, const Above& above) {
  double excess = 0;
  for (Token x = 0; x < 600; ++x) excess += above(x);
  // 600 terms are truncated to 2^-60, twice, and their sum in double is rounded.
  EXPECT_NEAR(left.excess(c), excess, 1e-12);
  std::map<Token, double> weight, drawn;
  left.for_each(c, [&](Token x, double w) {
    EXPECT_GT(w, 0);
    EXPECT_NEAR(w, above(x), 1e-14);
    weight[x] += w;
  });
  // Equally spaced numbers fall into a token's interval of the running sum at most once too often or too rarely;
  // rounding may move the interval's ends past one more number.
  constexpr std::uint64_t count = 1 << 14;
  for (std::uint64_t i = 0; i < count; ++i) ++drawn[left.draw(c, i << 50)];
  for (const auto& [x, times] : drawn) ASSERT_TRUE(weight.contains(x)) << x;
  for (const auto& [x, w] : weight) ASSERT_NEAR(drawn[x], w / excess * count, 2) << "token " << x << ", c = " << c;
}
TEST(GreatestRowInFractions, DistributionAndExcessAreThoseOfTheDefinition) {
  std::mt19937 words(7);
  int split_runs = 0;
  for (int round = 0; round < 300; ++round) {
    const int vocabulary = 2 + static_cast<int>(words() % 8);
    const auto q = few_weights(words, vocabulary);
    const auto p = round % 7 == 0 ? q : few_weights(words, vocabulary);
    const Rows<Rational> distributions(p, q);
    const MaxOfKPaths<Rational> max_of_k{2 + static_cast<int>(words() % 4),
                                         Rational(static_cast<int>(words() % 5)) / Rational(9),
                                         Rational(1 + static_cast<int>(words() % 4)) / Rational(9)};
    const GreatestRow<Rows<Rational>> row(distributions, TokenOrder<Rows<Rational>>(distributions), max_of_k);
    const auto power = [&](Rational base) {
      Rational product(1);
      for (int k = 0; k < max_of_k.paths; ++k) product *= base;
      return product;
    };
    const auto at = [](Token x) { return static_cast<std::size_t>(x); };
    std::vector<Rational> distribution;
    for (Token y = 0; y < vocabulary; ++y) {
      Rational lo = max_of_k.below;
      for (Token z = 0; z < vocabulary; ++z) {
        const Rational left = p[at(z)] * q[at(y)], right = p[at(y)] * q[at(z)];
        if (left < right || (left == right && z > y)) lo += max_of_k.reached * q[at(z)];
      }
      const Rational hi = lo + max_of_k.reached * q[at(y)];
      distribution.push_back((power(hi) - power(lo)) /
                             (power(max_of_k.below + max_of_k.reached) - power(max_of_k.below)));
      ASSERT_EQ(row.distribution(y), distribution.back()) << "token " << y << " of round " << round;
      if (!(q[at(y)] > Rational(0))) continue;
      const auto after = row.after(y);
      ASSERT_EQ(after.below * hi, lo * (after.below + after.reached));
    }
    split_runs += expect_left_over(
        distributions, [&](Token y) { return distribution[at(y)]; }, [&](const Rational& c) { return row.excess(c); },
        [&](const Rational& c, const auto& visit) { row.for_each(c, visit); });
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
  EXPECT_GT(split_runs, 100);
}

/// Returns a table of long rows: some tokens have q = 0, others p = 0, and some ratios are equal.
RatioTable long_table(std::uint32_t seed, int vocabulary, double sigma) {
  std::mt19937 words(seed);
  std::normal_distribution<double> normal;
  std::vector<double> p, q;
  for (Token x = 0; x < vocabulary; ++x) {
    const double logit = 3 * normal(words), shift = std::round(8 * normal(words)) / 8;
    p.push_back(x % 11 == 3 ? 0 : std::exp(logit + sigma * shift));
    q.push_back(x % 13 == 5 ? 0 : std::exp(logit));
  }
  return {examples::normalised(p), examples::normalised(q)};
}

TEST(GreatestRowOnTables, RankingNamesEveryTokenOnce) {
  for (const double sigma : {0.0, 1.0}) {
    const RatioTable table = long_table(3, 700, sigma);
    const auto ranking = table.ranking();
    std::map<Token, int> seen;
    for (int j = 0; j < ranking.size(); ++j) {
      ASSERT_EQ(ranking.of(ranking.token(j)), j);
      ASSERT_GT(table.proposal(ranking.token(j)), 0);
      ASSERT_LE(ranking.ratio(j), ranking.ratio(std::max(j - 1, 0)));
      ++seen[ranking.token(j)];
    }
    EXPECT_EQ(ranking.proposal(0, ranking.size()), 1);
    EXPECT_GT(ranking.undraftable(), 0);
    constexpr int steps = 4096;
    for (int i = 0; i < steps; ++i) {
      const Token x = ranking.draw_undraftable(ranking.undraftable() * i / steps);
      ASSERT_EQ(table.proposal(x), 0);
      ASSERT_GT(table.target(x), 0);
    }
  }
}

TEST(GreatestRowOnTables, DrawsFollowTheWeightsAndTheWeightsTheDistribution) {
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    const RatioTable table = long_table(seed, 600, seed % 3 * 0.7);
    const MaxOfKPaths<double> max_of_k{2 + static_cast<int>(seed % 4), seed % 2 ? 0.25 : 0.0, seed % 2 ? 0.75 : 1.0};
    const GreatestRow<RatioTable> row(table, TokenOrder<RatioTable>(table), max_of_k);
    double distribution = 0;
    for (Token x = 0; x < table.vocabulary(); ++x) distribution += row.distribution(x);
    // The sum has 600 terms with a few roundings each.
    EXPECT_NEAR(distribution, 1, 1e-12);
    for (const double c : {0.05, 0.5, 0.93, 1.0})
      expect_weights_and_draws(row, c,
                               [&](Token x) { return std::max(c * table.target(x) - row.distribution(x), 0.0); });
  }
}

TEST(ChosenTables, ExcessAndWeightsAreThoseOfTheDefinition) {
  std::mt19937 words(11);
  for (int round = 0; round < 300; ++round) {
    const int vocabulary = 2 + static_cast<int>(words() % 8);
    const Rows<Rational> distributions(few_weights(words, vocabulary), few_weights(words, vocabulary));
    const auto other = few_weights(words, vocabulary);
    const auto chosen = [&](Token x) {
      return round % 7 == 0 ? distributions.target(x) : other[static_cast<std::size_t>(x)];
    };
    const ChosenTable<Rational> table(distributions, chosen);
    expect_left_over(
        distributions, chosen, [&](const Rational& c) { return table.excess(c); },
        [&](const Rational& c, const auto& visit) { table.for_each(distributions, chosen, c, visit); });
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
}

TEST(ChosenTables, ALaddersNodeIsDrawnFromAsItsWeightsSay) {
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    const RatioTable distributions = long_table(seed, 600, 1);
    const LadderNode<RatioTable> node(distributions, seed % 2 ? std::vector{0.25, 0.25, 0.5} : all_active<double>(4));
    for (const double c : {0.05, 0.5, 0.93, 1.0})
      node.with_left_over(distributions, [&](const auto& left) {
        expect_weights_and_draws(left, c, [&](Token x) { return node.above(distributions, x, c); });
      });
  }
}

// Tests the greatest path's row as computed in passes, on rows with zeros and ties, at every register width, and counts
// the passes.

/// Rows and the distribution of the greatest path's token, computed by sorting.
template <class Entry>
struct RankedByHand {
  std::vector<Entry> p, q;
  MaxOfKPaths<double> max_of_k{2, 0, 1};
  std::vector<double> below{}, distribution{};

  RankedByHand(std::vector<Entry> target, std::vector<Entry> proposal, const MaxOfKPaths<double>& with)
      : p{std::move(target)}, q{std::move(proposal)}, max_of_k{with}, below(p.size(), 0), distribution(p.size(), 0) {
    const FreshRows<Entry> distributions = rows();
    const TokenOrder<FreshRows<Entry>> order(distributions);
    std::vector<Token> drafted;
    for (Token x = 0; x < distributions.vocabulary(); ++x)
      if (distributions.proposal(x) > 0) drafted.push_back(x);
    std::ranges::sort(drafted, [&order](Token x, Token y) { return order.above(y, x); });
    double total = 0;
    for (const Token x : drafted) {
      below[static_cast<std::size_t>(x)] = total;
      total += distributions.proposal(x);
    }
    const auto power = [this](double mass) { return std::pow(max_of_k.under(mass), max_of_k.paths); };
    for (const Token x : drafted) {
      const double lo = below[static_cast<std::size_t>(x)], hi = lo + distributions.proposal(x);
      distribution[static_cast<std::size_t>(x)] = (power(hi) - power(lo)) / (power(total) - power(0));
    }
  }
  FreshRows<Entry> rows() const { return {p, q}; }
  double left(Token x, double c) const {
    const auto i = static_cast<std::size_t>(x);
    return std::max(c * static_cast<double>(p[i]) - distribution[i], 0.0);
  }
  double excess(double c) const {
    double sum = 0;
    for (Token x = 0; x < static_cast<Token>(p.size()); ++x) sum += left(x, c);
    return sum;
  }
};

/// Returns rows with log ratios of standard deviation `sigma`, in steps of sigma * `step` if `step` > 0. Some tokens
/// have q = 0, others p = 0.
template <class Entry>
RankedByHand<Entry> by_hand(std::uint32_t seed, int vocabulary, double sigma, double step,
                            const MaxOfKPaths<double>& max_of_k) {
  std::mt19937 words(seed);
  std::normal_distribution<double> normal;
  std::vector<double> p, q;
  for (Token x = 0; x < vocabulary; ++x) {
    const double logit = 2 * normal(words),
                 shift = step > 0 ? std::round(normal(words) / step) * step : normal(words);
    p.push_back(x % 11 == 3 ? 0 : std::exp(logit + sigma * shift));
    q.push_back(x % 13 == 5 ? 0 : std::exp(logit));
  }
  p = examples::normalised(p);
  q = examples::normalised(q);
  return {std::vector<Entry>(p.begin(), p.end()), std::vector<Entry>(q.begin(), q.end()), max_of_k};
}

/// Returns rows whose target is the distribution of the greatest path's token, so that c p - d changes its sign in
/// every bucket at c = 1.
RankedByHand<double> tangent(int vocabulary, const MaxOfKPaths<double>& max_of_k) {
  std::mt19937 words(3);
  std::exponential_distribution<double> weight;
  std::vector<double> q;
  for (int x = 0; x < vocabulary; ++x) q.push_back(weight(words));
  q = examples::normalised(q);
  // The ratios p / q rise with the id, and those of the resulting distribution have the same order.
  std::vector<double> rising;
  for (int x = 0; x < vocabulary; ++x) rising.push_back(q[static_cast<std::size_t>(x)] * std::pow(2.0, x / 8.0 - 90));
  return {RankedByHand<double>(rising, q, max_of_k).distribution, q, max_of_k};
}

template <class Entry>
void expect_definition(const RankedByHand<Entry>& wanted, double c) {
  using L = FreshRows<Entry>;
  const L distributions = wanted.rows();
  const double close = 1e-13;  // V truncations of 2^-60 and a few roundings per term; powers add some more roundings
  double sum = 0;
  for (Token x = 0; x < distributions.vocabulary(); ++x) {
    if (!(distributions.proposal(x) > 0)) continue;
    const PlacedToken placed = BucketedRow<L>::placed(distributions, wanted.max_of_k, x);
    const double distribution = BucketedRow<L>(distributions, placed).distribution();
    sum += distribution;
    EXPECT_NEAR(placed.below, wanted.below[static_cast<std::size_t>(x)], close);
    EXPECT_NEAR(distribution, wanted.distribution[static_cast<std::size_t>(x)], close);
  }
  EXPECT_NEAR(sum, 1, close);
  Token any = 0;
  while (!(distributions.proposal(any) > 0)) ++any;
  const BucketedRow<L> row(distributions, BucketedRow<L>::placed(distributions, wanted.max_of_k, any));
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
  for (Token x = 0; x < distributions.vocabulary(); ++x) {
    EXPECT_NEAR(weight[x], wanted.left(x, c), close) << x;
    left += weight[x];
  }
  EXPECT_NEAR(left, from_fixed(total), close);
  if (left < 1e-9) return;  // too few digits are left
  constexpr std::uint64_t count = 1 << 10;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Token x = row.draw(c, excess, i << 54);
    ASSERT_GE(x, 0);
    ++drawn[x];
  }
  for (const auto& [x, times] : drawn) ASSERT_GT(weight[x], 0) << x;
  // Equally spaced numbers fall into a token's interval at most once too often or too rarely at each end.
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
  const L distributions = wanted.rows();
  const BucketedRow<L> row(distributions, BucketedRow<L>::placed(distributions, max_of_k, 0));
  const std::uint64_t before = distributions.visited();
  BucketedRow<L>::Excess excess;
  row.excess(1, excess);
  EXPECT_GT(distributions.visited() - before, 2 * 8 * wanted.p.size());
}

TEST(BucketedRowByPasses, TakesFewPassesAsARule) {
  for (const double sigma : {0.02, 0.3, 1.0, 2.0})
    for (const int paths : {2, 4, 8}) {
      const auto rows = by_hand<float>(7, 20000, sigma, 0, {paths, 0, 1});
      const auto distributions = rows.rows();
      const BucketedRow<FreshRows<float>> row(distributions, {{paths, 0, 1}, 0, 0, 1});
      for (const double c : {0.3, 0.9}) {
        const std::uint64_t before = distributions.visited();
        BucketedRow<FreshRows<float>>::Excess excess;
        row.excess(c, excess);
        EXPECT_LE(distributions.visited() - before, 9 * rows.p.size()) << sigma << ", K = " << paths << ", c = " << c;
      }
    }
}

TEST(BucketedRowByPasses, IsTheSameAtEveryWidth) {
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    const MaxOfKPaths<double> max_of_k = fans_by_hand[seed % fans_by_hand.size()];
    const auto rows = by_hand<float>(seed, 3001, seed < 3 ? 0.0 : 0.4, seed % 2 ? 0.5 : 0, max_of_k);
    const auto distributions = rows.rows();
    using L = FreshRows<float>;
    struct Seen {
      Fixed excess;
      double below, total;
      std::vector<Token> drawn;
      bool operator==(const Seen&) const = default;
    };
    std::vector<Seen> seen;
    for (const simd::Width width : simd::widths_here()) {
      const simd::Using here(width);
      const PlacedToken placed = BucketedRow<L>::placed(distributions, max_of_k, 1234);
      const BucketedRow<L> row(distributions, placed);
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
