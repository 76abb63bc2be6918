// One-pass rows against the definition, across block borders, in both entry types and every width; the work they
// count.
#include <utility>

#include <gtest/gtest.h>

#include <draftproof/sim/fresh_rows.hpp>
#include <draftproof/sim/rows.hpp>
#include <draftproof/tests/sim/example_rows.hpp>

namespace draftproof {
namespace {

const std::vector<double> places{0, 0.25, 0.75, 1, 1.5, 4};

template <class Entry>
std::vector<Entry> as(const std::vector<double>& row) {
  return std::vector<Entry>(row.begin(), row.end());
}

template <class Entry>
struct FreshRowsOf : testing::Test {};
using Entries = testing::Types<float, double>;
TYPED_TEST_SUITE(FreshRowsOf, Entries);

// Blocks hold 1024 tokens: sizes below, at and above one and several blocks.
const std::vector<std::size_t> sizes{1, 5, 1023, 1024, 1025, 2500};

TYPED_TEST(FreshRowsOf, ResidualMassIsTheIntegerSumOfItsTerms) {
  for (const std::size_t size : sizes) {
    const auto p = as<TypeParam>(examples::random_row(size, size, 6, 0.2));
    const auto q = as<TypeParam>(examples::random_row(size + 1, size, 6, 0.2));
    const FreshRows<TypeParam> rows(p, q);
    for (const double b : places) {
      const double sum = fixed_sum(static_cast<int>(size), [&](Token x) {
        const auto i = static_cast<std::size_t>(x);
        return std::max(double{p[i]} - b * double{q[i]}, 0.0);
      });
      EXPECT_EQ(rows.residual_mass(b), sum);
      EXPECT_EQ(rows.residual_mass(b), sum) << "the second time, from the partial sums";
    }
  }
}

TYPED_TEST(FreshRowsOf, ResidualDrawIsTheLinearWalk) {
  for (const std::size_t size : sizes) {
    const auto p = as<TypeParam>(examples::random_row(size, size, 6, 0.2));
    const auto q = as<TypeParam>(examples::random_row(size + 1, size, 6, 0.2));
    const FreshRows<TypeParam> rows(p, q);
    for (const double b : places) {
      const auto plain = rows.weights([&](Token x) {
        const auto i = static_cast<std::size_t>(x);
        return std::max(double{p[i]} - b * double{q[i]}, 0.0);
      });
      for (const std::uint64_t word : examples::some_words(size, 60)) {
        const Token drawn = rows.residual(b).draw(word);
        ASSERT_EQ(drawn, plain.draw(word)) << "V " << size << " b " << b;
        if (drawn != no_token) {
          ASSERT_GT(rows.target(drawn) - b * rows.proposal(drawn), 0);
        }
      }
      rows.residual_mass(0.5);  // another pass in between must not spoil the next draw
    }
  }
}

/// The first token whose running sum of integers exceeds what the word asks for.
template <class F>
Token running_sum_draw(int size, const F& weight, std::uint64_t word) {
  Fixed total = 0;
  for (Token x = 0; x < size; ++x) total += to_fixed(weight(x));
  if (total <= 0) return no_token;
  auto left = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(total)));
  for (Token x = 0;; ++x)
    if ((left -= to_fixed(weight(x))) < 0) return x;
}

TYPED_TEST(FreshRowsOf, EveryDrawIsTheRunningSumInEveryWidth) {
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{7}, std::size_t{1023}, std::size_t{1025}, std::size_t{4097}}) {
    const auto n = static_cast<int>(size);
    const auto p = as<TypeParam>(examples::random_row(size + 7, size, 6, 0.2));
    const auto q = as<TypeParam>(examples::random_row(size + 8, size, 6, 0.2));
    const FreshRows<TypeParam> rows(p, q);
    const std::vector<Token> seen{rows.top(0), rows.top(std::min(1, n - 1)), rows.top(std::min(2, n - 1))};
    const int gone = size > 2 ? 3 : 0;
    const auto above = [&](Token x) { return std::max(rows.target(x) - 0.9 * rows.proposal(x), 0.0); };
    const auto clipped = [&](Token x) {
      return std::max(rows.target(x) - 1.3 * std::min(rows.proposal(x), rows.target(x) / 1.7), 0.0);
    };
    const auto row = [&](Token x) { return rows.proposal(x); };
    const auto left = [&](Token x) { return among(x, seen.data(), gone) ? 0.0 : rows.proposal(x); };
    const auto product = [&](Token x) { return rows.target(x) * rows.proposal(x); };
    for (const wide::Width width : wide::widths) {
      if (width > wide::widest()) continue;
      const wide::Using now(width);
      for (const std::uint64_t word : examples::some_words(size, size > 2000 ? 20 : 60)) {
        ASSERT_EQ(rows.residual(0.9).draw(word), running_sum_draw(n, above, word)) << wide::name_of(width);
        ASSERT_EQ(rows.clipped(1.3, 1.7).draw(word), running_sum_draw(n, clipped, word)) << wide::name_of(width);
        ASSERT_EQ(rows.row(0).draw(word), running_sum_draw(n, row, word)) << wide::name_of(width);
        ASSERT_EQ(rows.row_without(0, seen.data(), gone).draw(word), running_sum_draw(n, left, word))
            << wide::name_of(width);
        ASSERT_EQ(rows.weights(product).draw(word), running_sum_draw(n, product, word)) << wide::name_of(width);
      }
      EXPECT_EQ(rows.clipped(1.3, 1.7).total(), fixed_sum(n, clipped));
      EXPECT_EQ(rows.row_without(0, seen.data(), gone).total(), fixed_sum(n, left));
      EXPECT_EQ(rows.mass_and_slope(0.9).mass, rows.residual_mass(0.9));
      EXPECT_EQ(rows.mass_and_slope(0.9).slope,
                fixed_sum(n, [&](Token x) { return above(x) > 0 ? rows.proposal(x) : 0.0; }));
    }
  }
}

TEST(FreshRows, CountTheTokensTheyLookAt) {
  constexpr std::uint64_t size = 5000, block = FreshRows<float>::block;
  const auto p = as<float>(examples::random_row(1, size)), q = as<float>(examples::random_row(2, size));
  const FreshRows<float> rows(p, q);
  std::uint64_t before = 0;
  const auto looked = [&] { return rows.visited() - std::exchange(before, rows.visited()); };
  rows.residual_mass(1);
  EXPECT_EQ(looked(), size);
  rows.residual_mass(1);
  EXPECT_EQ(looked(), 0) << "the pass is there";
  rows.residual(1).draw(5);
  EXPECT_EQ(looked(), block);
  rows.residual(1).draw(~std::uint64_t{0});
  EXPECT_EQ(looked(), size % block) << "the last block is shorter";
  rows.clipped(1.1, 1.2).draw(5);
  EXPECT_EQ(looked(), size + block);
  rows.residual(1).draw(5);
  EXPECT_EQ(looked(), size + block) << "the sums were those of other weights";
  rows.mass_and_slope(2);
  EXPECT_EQ(looked(), size);
  rows.residual(2).draw(5);
  EXPECT_EQ(looked(), block) << "mass and slope leave the sums of the mass";
  const Token seen[] = {3};
  rows.row_without(0, seen, 1).draw(5);
  EXPECT_EQ(looked(), size + block);
  rows.mass_without(0, seen, 1);
  EXPECT_EQ(looked(), 0) << "by subtraction";
  rows.sum([&](Token x) { return rows.proposal(x); });
  EXPECT_EQ(looked(), size);
  rows.weights([&](Token x) { return rows.proposal(x); }).draw(5);
  EXPECT_EQ(looked(), size + block);
}

TEST(FreshRows, AgreesWithPlainRowsOnEveryQuestion) {
  const auto p = examples::random_row(11, 300, 4, 0.2), q = examples::random_row(12, 300, 4, 0.2);
  const FreshRows<double> fresh(p, q);
  const Rows<double> rows(p, q);
  const auto walk = [](const auto& weights) {
    std::vector<std::pair<Token, double>> walked;
    weights.for_each([&](Token x, double w) { walked.emplace_back(x, w); });
    return walked;
  };
  const Token seen[] = {17, 3, 250};
  for (const double b : places) EXPECT_EQ(walk(fresh.residual(b)), walk(rows.residual(b)));
  EXPECT_EQ(walk(fresh.clipped(1.5, 2)), walk(rows.clipped(1.5, 2)));
  EXPECT_EQ(walk(fresh.row(0)), walk(rows.row(0)));
  EXPECT_EQ(walk(fresh.row_without(0, seen, 3)), walk(rows.row_without(0, seen, 3)));
  for (int j = 0; j < max_drafts; ++j) EXPECT_EQ(fresh.top(j), rows.top(j)) << j;
  // Sums of 300 terms at most 1: V roundings in Rows, V units of 2^-60 and the rows' own defect in FreshRows.
  EXPECT_NEAR(fresh.mass_without(0, seen, 3), rows.mass_without(0, seen, 3), 2 * 300 * 0x1p-53);
}

TEST(FreshRows, UnseenMassKeepsItsDigitsWhenThePeakIsTaken) {
  const double rest = 3e-13;
  const std::vector<double> q{1 - rest, 0, rest / 4, 3 * (rest / 4)};
  const FreshRows<double> rows(q, q);
  const Token peak[] = {0}, all[] = {2, 0, 3};
  EXPECT_NEAR(rows.mass_without(0, peak, 1), rest, 4 * 0x1p-60) << "a difference from 1 would be off by up to 2^-53";
  EXPECT_EQ(rows.mass_without(0, all, 3), 0) << "an exhausted support";
}

TEST(FreshRows, EmptyResidualGivesNoToken) {
  const std::vector<double> p{0.25, 0.75};
  const FreshRows<double> rows(p, p);
  EXPECT_EQ(rows.residual_mass(1), 0);
  EXPECT_EQ(rows.residual(1).draw(123), no_token);
}

}  // namespace
}  // namespace draftproof
