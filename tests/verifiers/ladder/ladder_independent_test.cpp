// Tests of the ladder for drafts from different proposals, with bins by the ratio of p to the mean proposal.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/tests/support/planned.hpp>
#include <draftproof/verifiers/ladder/order_mixture.hpp>
#include <draftproof/verifiers/ladder_independent.hpp>

namespace draftproof {
namespace {

using verifiers::LadderIndependent;

/// Returns random distributions over the bins, normalised from small integer weights.
ProposalRows<Rational> random_rows(std::mt19937& words, std::size_t rows, std::size_t bins) {
  ProposalRows<Rational> made(rows, std::vector<Rational>(bins));
  for (auto& row : made) {
    int total = 0;
    std::vector<int> weights;
    for (std::size_t i = 0; i < bins; ++i) total += weights.emplace_back(static_cast<int>(words() % 4) + (i == 0));
    for (std::size_t i = 0; i < bins; ++i) row[i] = Rational(weights[i], total);
  }
  return made;
}

/// Returns Pr(draft k is in bin i and selected), by an enumeration of all tuples of bins. best(tuple, bin) returns
/// whether, for this tuple of bins, the bin is in the group from which the draft is selected.
template <class Best>
ProposalRows<Rational> enumerated(const ProposalRows<Rational>& own, int drafts, const Best& best) {
  const std::size_t bins = own.front().size(), all = static_cast<std::size_t>(drafts);
  ProposalRows<Rational> distribution(own.size(), std::vector<Rational>(bins));
  std::vector<std::size_t> tuple(all, 0);
  for (bool more = true; more;) {
    Rational chance = 1;
    for (std::size_t k = 0; k < all; ++k) chance *= own[std::min(k, own.size() - 1)][tuple[k]];
    int group = 0;
    for (const std::size_t bin : tuple) group += best(tuple, bin);
    for (std::size_t k = 0; k < all; ++k)
      if (best(tuple, tuple[k])) distribution[std::min(k, own.size() - 1)][tuple[k]] += chance / group;
    more = false;
    for (std::size_t k = 0; k < all && !more; ++k) {
      more = ++tuple[k] < bins;
      if (!more) tuple[k] = 0;
    }
  }
  return distribution;
}

/// Expects Pr(draft k is in bin i and selected) = own[k][i] * slope[k][i]. The last row may stand for several drafts,
/// whose probabilities are summed.
void expect_distribution(const ProposalRows<Rational>& own, const ProposalRows<Rational>& slope, int drafts,
                         const ProposalRows<Rational>& distribution) {
  for (std::size_t k = 0; k < own.size(); ++k)
    for (std::size_t i = 0; i < own[k].size(); ++i) {
      const int shared = k + 1 < own.size() ? 1 : drafts - static_cast<int>(own.size()) + 1;
      EXPECT_EQ(Rational(own[k][i] * slope[k][i] * shared), distribution[k][i]) << k << ' ' << i;
    }
}

TEST(GroupSlopes, AreTheDistributionOfTheSelectionForAnyLevels) {
  std::mt19937 words(20);
  for (int n = 0; n < 150; ++n) {
    const std::size_t bins = 1 + words() % 5;
    const int drafts = 1 + static_cast<int>(words() % 4);
    const auto own = random_rows(words, n % 3 == 0 ? 1 : static_cast<std::size_t>(drafts), bins);
    std::vector<Rational> level(bins);
    for (auto& c : level) c = Rational(static_cast<int>(words() % 5), 4);
    ProposalRows<Rational> distribution(own.size(), std::vector<Rational>(bins));
    for (int quarter = 0; quarter < 4; ++quarter) {  // levels are multiples of 1/4: one u for each quarter
      const Rational u(quarter, 4);
      const auto part = enumerated(own, drafts, [&](const auto& tuple, std::size_t bin) {
        for (std::size_t i = *std::min_element(tuple.begin(), tuple.end()) + 1; i <= bin; ++i)
          if (u < level[i]) return false;
        return true;
      });
      for (std::size_t k = 0; k < distribution.size(); ++k)
        for (std::size_t i = 0; i < bins; ++i) distribution[k][i] += part[k][i] / 4;
    }
    expect_distribution(own, group_slopes(level, sums_below(own), drafts), drafts, distribution);
  }
}

TEST(Orders, SlopesAreTheDistributionOfTheSelectionForAnyOrder) {
  std::mt19937 words(21);
  for (int n = 0; n < 60; ++n) {
    const std::size_t bins = 1 + words() % 4;
    const int drafts = 1 + static_cast<int>(words() % 3);
    const auto own = random_rows(words, static_cast<std::size_t>(drafts), bins);
    std::vector<std::size_t> order(bins);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), words);
    const Orders orders({order}, {Orders::unit / 4, Orders::unit / 4 * 3});
    const auto distribution = enumerated(own, drafts, [&](const auto& tuple, std::size_t bin) {
      for (const std::size_t other : tuple)
        if (orders.rank(1, static_cast<int>(other)) < orders.rank(1, static_cast<int>(bin))) return false;
      return true;
    });
    expect_distribution(own, Orders::order_slopes(own, order, drafts), drafts, distribution);
    const ProposalRows<Rational> ladder(own.size(), std::vector<Rational>(bins, Rational(1, 7)));
    const auto mixed = orders.slopes(own, ladder, drafts);
    for (std::size_t k = 0; k < own.size(); ++k)
      for (std::size_t i = 0; i < bins; ++i)
        EXPECT_EQ(Rational(own[k][i] * mixed[k][i]), Rational(own[k][i] / 28 + distribution[k][i] * 3 / 4));
  }
}

// Tested here, because the prover covers only the registered scheme, which uses orders of the drafts.
TEST(LadderIndependent, IsLosslessWithoutOrders) {
  planned::expect_lossless(LadderIndependent{.orders = 0}, "independent", false, 40);
}

// The plan keeps the best of its mixtures of orders, and one mixture is the ladder without orders.
TEST(LadderIndependent, OrdersGainAndNeverLose) {
  int above = 0;
  for (int n = 0; n < 200; ++n) {
    const Instance instance = generate_instance(2026, n, 4, true);
    const Rows<Rational> rows = instance.rows();
    const auto accepted = [&](int orders) {
      const auto plan = LadderIndependent{.orders = orders}.prepare(rows, instance.drafts);
      Rational sum = 0;
      for (Token x = 0; x < rows.vocabulary(); ++x) sum += std::min<Rational>(rows.target(x), plan.selected.of(x));
      return sum;
    };
    const Rational alone = accepted(0), mixed = accepted(8);
    EXPECT_GE(mixed, alone) << instance.text();
    above += mixed > alone;
  }
  EXPECT_GT(above, 10);
}

TEST(LadderIndependent, IsOptimalWhereProposalsAgree) {
  const VerifierOf<planned::ForProof<LadderIndependent>> scheme(Kind::verifier, LadderIndependent{});
  int several = 0;
  for (int n = 0; n < 80; ++n) {
    Instance instance = generate_instance(7, n, 3, false);
    several += instance.drafts > 1;
    const Instance one = instance;
    instance.proposals.resize(static_cast<std::size_t>(instance.drafts), instance.proposals.front());
    InstanceAnalysis at(scheme, *registry().drafter("independent"), instance);
    EXPECT_EQ(at.distribution().draft_accepted, at.optimum()) << one.text();
  }
  EXPECT_GT(several, 20);
}

// On buckets of fresh rows the scheme is lossless up to rounding, and its acceptance is near the acceptance on single
// tokens.
TEST(LadderIndependent, IsLosslessOnFreshRows) {
  const VerifierOf<LadderIndependent> scheme(Kind::verifier);
  const AnyDrafter& drafter = *registry().drafter("independent");
  const std::vector<double> p{0.4, 0.3, 0.15, 0.1, 0.05, 0}, a{0.2, 0.2, 0.2, 0.2, 0.1, 0.1},
      b{0.5, 0, 0.3, 0, 0.1, 0.1};
  const FreshRows<double> rows(std::span<const double>(p), {std::span<const double>(a), std::span<const double>(b)});
  const auto distribution = explore_distribution(drafter, *scheme.explore_on(rows, 2), rows, 2);
  for (std::size_t x = 0; x < p.size(); ++x)
    EXPECT_NEAR(distribution.output[x], p[x], 1e-14);  // some 40 roundings of 2^-53
  EXPECT_GT(distribution.draft_accepted, 0.85);
}

TEST(RangeMaximum, IsTheLargestOfEveryRun) {
  std::mt19937 words(5);
  for (const std::size_t size : {1u, 2u, 3u, 4u, 7u, 8u, 9u, 31u, 64u, 65u, 100u}) {
    std::vector<std::uint32_t> values(size);
    for (auto& value : values) value = static_cast<std::uint32_t>(words() % 1000);
    const RangeMaximum tabulated(values, true), plain(values, false);
    for (int first = 0; first < static_cast<int>(size); ++first)
      for (int last = first + 1; last <= static_cast<int>(size); ++last) {
        const std::uint32_t largest = *std::max_element(values.begin() + first, values.begin() + last);
        ASSERT_EQ(tabulated.of(first, last), largest) << size << ": " << first << " .. " << last;
        ASSERT_EQ(plain.of(first, last), largest) << size << ": " << first << " .. " << last;
      }
    // Rows are contiguous, because a device copies them as one array.
    std::size_t rows = 0, entries = 0;
    for (std::size_t width = 1; width <= size; width *= 2, ++rows) entries += size + 1 - width;
    EXPECT_EQ(tabulated.rows().size(), entries);
    EXPECT_EQ(RangeSearch::places(rows, size), entries);
  }
}

}  // namespace
}  // namespace draftproof
