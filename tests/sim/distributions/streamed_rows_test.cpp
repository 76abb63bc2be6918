// Tests of FreshRows, which compute every quantity in one pass over the row: results at block borders, for both entry
// types and every SIMD width, and the number of tokens that each call reads.
#include <cmath>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

const std::vector<double> row_places{0, 0.25, 0.9, 1, 1.5, 4};

template <class Entry>
std::vector<Entry> as(const std::vector<double>& row) {
  return std::vector<Entry>(row.begin(), row.end());
}

/// Returns (p - b q)+ with the roundings of FreshRows<Entry>.
template <class Entry>
double residual_term(Entry p, Entry q, double b) {
  if constexpr (std::is_same_v<Entry, float>) {
    const auto high = static_cast<float>(b), low = static_cast<float>(b - double{high});
    return double{std::max(std::fmaf(-low, q, std::fmaf(-high, q, p)), 0.0f)};
  } else {
    return std::max(p - b * q, 0.0);
  }
}

template <class Entry>
struct FreshRowsOf : testing::Test {};
using Entries = testing::Types<float, double>;
TYPED_TEST_SUITE(FreshRowsOf, Entries);

// Blocks hold 1024 tokens: the sizes lie below, at and above one block, and above several.
const std::vector<std::size_t> row_sizes{1, 7, 1023, 1024, 1025, 4097};

/// Returns the first token whose fixed-point running sum exceeds the scaled random bits, or no_token if all weights are
/// 0.
template <class F>
Token running_sum_draw(int size, const F& weight, std::uint64_t word) {
  Fixed total = 0;
  for (Token x = 0; x < size; ++x) total += to_fixed(weight(x));
  if (total <= 0) return no_token;
  auto left = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(total)));
  for (Token x = 0;; ++x)
    if ((left -= to_fixed(weight(x))) < 0) return x;
}

TYPED_TEST(FreshRowsOf, EveryMassAndDrawIsThatOfTheRunningSumInEveryWidth) {
  for (const std::size_t size : row_sizes) {
    const auto n = static_cast<int>(size);
    const auto p = as<TypeParam>(examples::random_row(size + 7, size, 6, 0.2));
    const auto q = as<TypeParam>(examples::random_row(size + 8, size, 6, 0.2));
    const FreshRows<TypeParam> rows(p, q);
    const std::vector<Token> seen{rows.kth_most_probable(0), rows.kth_most_probable(std::min(1, n - 1)),
                                  rows.kth_most_probable(std::min(2, n - 1))};
    const int gone = size > 2 ? 3 : 0;
    const auto above = [&](double b) {
      return [&p, &q, b](Token x) {
        const auto i = static_cast<std::size_t>(x);
        return residual_term(p[i], q[i], b);
      };
    };
    const auto clipped = [&](Token x) {
      return std::max(rows.target(x) - 1.3 * std::min(rows.proposal(x), rows.target(x) / 1.7), 0.0);
    };
    const auto row = [&](Token x) { return rows.proposal(x); };
    const auto left = [&](Token x) { return among(x, seen.data(), gone) ? 0.0 : rows.proposal(x); };
    const auto product = [&](Token x) { return rows.target(x) * rows.proposal(x); };
    // FreshRows scales weights with a sum below 1/16 by the power of two that brings the sum to [1, 2).
    double rest = 0, scale = 1;
    for (Token x = 0; x < n; ++x) rest += left(x);
    if (rest > 0 && rest < 0x1p-4)
      while (rest * scale < 1) scale *= 2;
    const auto measured = [&](Token x) { return left(x) * scale; };
    for (const simd::Width width : simd::widths_here()) {
      const simd::Using now(width);
      for (const std::uint64_t word : examples::some_words(size, size > 2000 ? 15 : 40)) {
        for (const double b : row_places) {
          const Token drawn = running_sum_draw(n, above(b), word);
          ASSERT_EQ(rows.residual(b).draw(word), drawn) << simd::name_of(width) << " V " << size << " b " << b;
          ASSERT_TRUE(drawn == no_token || above(b)(drawn) > 0);
        }
        ASSERT_EQ(rows.clipped(1.3, 1.7).draw(word), running_sum_draw(n, clipped, word)) << simd::name_of(width);
        ASSERT_EQ(rows.row(0).draw(word), running_sum_draw(n, row, word)) << simd::name_of(width);
        ASSERT_EQ(rows.row_without(0, seen.data(), gone).draw(word), running_sum_draw(n, measured, word))
            << simd::name_of(width);
        ASSERT_EQ(rows.weights(product).draw(word), running_sum_draw(n, product, word)) << simd::name_of(width);
      }
      EXPECT_EQ(rows.clipped(1.3, 1.7).total(), fixed_sum(n, clipped));
      EXPECT_EQ(rows.row_without(0, seen.data(), gone).total(), fixed_sum(n, measured) / scale);
      for (const double b : row_places) {
        EXPECT_EQ(rows.residual_mass(b), fixed_sum(n, above(b)));
        EXPECT_EQ(rows.residual_mass(b), fixed_sum(n, above(b))) << "the second time, from the partial sums";
        EXPECT_EQ(rows.mass_and_slope(b).mass, fixed_sum(n, above(b)));
        EXPECT_EQ(rows.mass_and_slope(b).slope,
                  fixed_sum(n, [&](Token x) { return above(b)(x) > 0 ? rows.proposal(x) : 0.0; }));
      }
    }
  }
}

// In rows of floats a residual term has an error of 2^-23 of the term plus 2^-47 of p (short_float.hpp). The error of
// the mass is at most the sum of these errors, and the error of the distribution at most this sum divided by the mass.
// Integer sums lose less than 2^-60 per term. A proposal near the target leaves a small residual, whose relative error
// is largest.
TEST(FreshRows, OfFloatsServeTheDistributionOfTheSameDoubles) {
  int served = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const std::size_t size = 1 + 149 * seed;
    const auto p = as<float>(examples::random_row(seed, size, 6, 0.2));
    auto q = as<float>(examples::random_row(seed + 40, size, 6, 0.2));
    const float closeness = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 0.9f : 0.99999f;
    for (std::size_t i = 0; i < size; ++i) q[i] += closeness * (p[i] - q[i]);
    const std::vector<double> wide_p(p.begin(), p.end()), wide_q(q.begin(), q.end());
    const FreshRows<float> floats(p, std::span<const float>(q));
    const FreshRows<double> doubles(wide_p, std::span<const double>(wide_q));
    for (const double b : {0.3, 0.7, 1.0, 1 + 1e-9, 1.3, 2.1, 0x1p100, 0x1.8p100, 1e40}) {
      const double mass = doubles.residual_mass(b), units = static_cast<double>(size) * 0x1p-60;
      const double bound = (0x1p-23 + 0x1p-46) * mass + 0x1p-47 * (1 + 0x1p-19) + units;
      EXPECT_NEAR(floats.residual_mass(b), mass, bound) << "V " << size << " b " << b;
      if (mass <= 0 || floats.residual_mass(b) <= 0) continue;
      std::vector<double> apart(size);
      double total = 0, found = 0;
      doubles.residual(b).for_each_realised(
          [&](Token x, double w) { apart[static_cast<std::size_t>(x)] = w / mass; });
      floats.residual(b).for_each_realised([&](Token x, double w) {
        apart[static_cast<std::size_t>(x)] -= w / floats.residual_mass(b);
        total += w;
      });
      floats.residual(b).for_each([&](Token x, double w) {
        found += w;
        EXPECT_EQ(w, floats.residual(b).weight(x));
      });
      EXPECT_NEAR(total, floats.residual_mass(b), static_cast<double>(size) * 0x1p-53 * total) << "what draw serves";
      EXPECT_NEAR(found, total, units + static_cast<double>(size) * 0x1p-53 * total);
      double distance = 0;
      for (const double difference : apart) distance += std::abs(difference) / 2;
      EXPECT_LE(distance, bound / mass + static_cast<double>(size) * 0x1p-53) << "V " << size << " b " << b;
      ++served;
    }
  }
  EXPECT_GT(served, 120);
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
  const auto entries = [](const auto& weights) {
    std::vector<std::pair<Token, double>> found;
    weights.for_each([&](Token x, double w) { found.emplace_back(x, w); });
    return found;
  };
  const Token seen[] = {17, 3, 250};
  for (const double b : row_places) EXPECT_EQ(entries(fresh.residual(b)), entries(rows.residual(b)));
  EXPECT_EQ(entries(fresh.clipped(1.5, 2)), entries(rows.clipped(1.5, 2)));
  EXPECT_EQ(entries(fresh.row(0)), entries(rows.row(0)));
  EXPECT_EQ(entries(fresh.row_without(0, seen, 3)), entries(rows.row_without(0, seen, 3)));
  for (int j = 0; j < max_drafts; ++j) EXPECT_EQ(fresh.kth_most_probable(j), rows.kth_most_probable(j)) << j;
  // Sums of 300 terms are at most 1. Rows rounds V times; FreshRows has an error of V units of 2^-60 plus the
  // difference of its row's sum from 1.
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

// Even a tiny mass outside the seen tokens is precise, because scaling by a power of two is exact for weights above
// 2^-1022.
TEST(FreshRows, LittleMassIsMeasuredAgainstItself) {
  for (const double rest : {1e-3, 1e-9, 1e-15, 1e-30, 1e-300}) {
    const std::vector<double> q{1 - rest, rest / 4, 0, 3 * (rest / 4)};
    const FreshRows<double> rows(q, q);
    const Token peak[] = {0};
    EXPECT_NEAR(rows.mass_without(0, peak, 1) / rest, 1, 1e-12) << rest;
    const auto left = rows.row_without(0, peak, 1);
    double total = 0, first = 0;
    left.for_each_realised([&](Token x, double weight) {
      total += weight;
      first += x == 1 ? weight : 0;
    });
    EXPECT_NEAR(first / total, 0.25, 1e-12) << rest;
    // Random bits just below and just above a quarter of their range.
    EXPECT_EQ(left.draw((std::uint64_t{1} << 62) - (std::uint64_t{1} << 24)), 1);
    EXPECT_EQ(left.draw((std::uint64_t{1} << 62) + (std::uint64_t{1} << 24)), 3);
  }
}

}  // namespace
}  // namespace draftproof
