#include <draftproof/statistics/group_bets.hpp>

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/statistics/audit_banks.hpp>
#include <draftproof/statistics/row_groups.hpp>

namespace draftproof {
namespace {

/// A design of three groups with every kind of bet.
GroupDesign three_groups() {
  return {.name = "three",
          .groups = 3,
          .cuts = {{1, "first", "others"}, {2, "not last", "last"}},
          .scores = {{"rising", {-1, 0, 2}, {0.5, -0.5}}}};
}

/// E e after `left` more records of these masses, over all draws from `law`.
double mean_e(const GroupBets& before, const std::array<double, 3>& mass, const std::array<double, 3>& slack,
              const std::array<double, 3>& law, int left) {
  if (left == 0) return std::exp(before.log_e()) + std::exp(before.log_e_of_parts());
  double mean = 0;
  for (int g = 0; g < 3; ++g) {
    GroupBets after = before;
    after.add(mass, slack, g, 0, left % 2);
    mean += law[static_cast<std::size_t>(g)] * mean_e(after, mass, slack, law, left - 1);
  }
  return mean;
}

TEST(GroupBets, HaveMeanOne) {
  const std::array<double, 3> mass{0.5, 0.3, 0.2}, none{};
  EXPECT_NEAR(mean_e(GroupBets(three_groups(), 2), mass, none, mass, 5), 2, 1e-12);
}

TEST(GroupBets, HaveMeanAtMostOneWithinTheSlack) {
  const std::array<double, 3> mass{0.5, 0.3, 0.2};
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> any(-1, 1);
  for (int trial = 0; trial < 50; ++trial) {
    std::array<double, 3> slack{}, law{};
    double sum = 0;
    for (std::size_t g = 0; g < 3; ++g) {
      const double h = 0.05 * std::abs(any(random));
      slack[g] = mass[g] * std::expm1(h);
      law[g] = mass[g] * std::exp(h * (any(random) > 0 ? 1 : -1));  // as far as rounding goes
      sum += law[g];
    }
    for (double& p : law) p /= sum;
    EXPECT_LE(mean_e(GroupBets(three_groups(), 2), mass, slack, law, 3), 2 + 1e-12);
  }
}

TEST(GroupBets, GrowWithADeviation) {
  const std::array<double, 3> mass{0.5, 0.3, 0.2}, none{};
  GroupBets bets(three_groups(), 1);
  for (std::uint64_t i = 0; i < 600; ++i) bets.add(mass, none, i % 3 == 0 ? 2 : static_cast<int>(i % 2), i, 0);
  EXPECT_GT(bets.log_e(), 10);
  EXPECT_EQ(bets.worst().where, "last");
  EXPECT_EQ(bets.worst().observed, 200);
  EXPECT_NEAR(bets.worst().expected, 120, 1e-9);
  EXPECT_EQ(bets.worst().first.front(), 0u);
}

TEST(RowGroups, AddUpToTheirRows) {
  std::mt19937_64 random(2);
  std::gamma_distribution<double> weight(0.2);
  const std::size_t symbols = 1234;
  std::vector<float> p(symbols), q(symbols);
  double sum_p = 0, sum_q = 0;
  for (std::size_t x = 0; x < symbols; ++x) {
    p[x] = static_cast<float>(weight(random));
    q[x] = x % 7 == 0 ? 0.0f : static_cast<float>(weight(random));
    sum_p += p[x];
    sum_q += q[x];
  }
  for (std::size_t x = 0; x < symbols; ++x) {
    p[x] = static_cast<float>(p[x] / sum_p);
    q[x] = static_cast<float>(q[x] / sum_q);
  }
  RowGroups groups;
  const DepthSlack slack = depth_slack({.significant_bits = 11}, 0);
  group_rows(p, q, slack, slack, groups);
  std::array<double, ratio_groups> ratio{};
  std::array<double, id_groups> id{};
  double overlap = 0, moved = 0;
  for (std::size_t x = 0; x < symbols; ++x) {
    ratio[static_cast<std::size_t>(ratio_group(p[x], q[x]))] += p[x];
    id[static_cast<std::size_t>(id_group(x, symbols))] += p[x];
    overlap += std::min(p[x], q[x]);
    moved += p[x] * slack[static_cast<std::size_t>(depth_group(p[x]))];
    EXPECT_EQ(ratio_group(p[x], q[x]) >= ratio_groups / 2, p[x] >= q[x]);
  }
  for (std::size_t g = 0; g < ratio.size(); ++g) EXPECT_NEAR(groups.ratio_p.mass[g], ratio[g], 1e-12);
  for (std::size_t g = 0; g < id.size(); ++g) EXPECT_NEAR(groups.id_p.mass[g], id[g], 1e-12);
  EXPECT_NEAR(groups.overlap, overlap, 1e-12);
  double slack_sum = 0;
  for (const double s : groups.ratio_p.slack) slack_sum += s;
  EXPECT_NEAR(slack_sum, moved, 1e-12);
  const GroupMasses<2 * ratio_groups> verdicts = verdict_masses(groups);
  double rejected = 0;
  for (std::size_t g = 0; g < ratio_groups; ++g) rejected += verdicts.mass[g];
  EXPECT_NEAR(rejected, 1 - overlap, 1e-6);
}

TEST(RowGroups, BoundTheRoundingOfFloat16) {
  // Half a unit in the last place of a number in [8, 16) is 2^-8; p = 2^-14 has the logarithm -9.7.
  const DepthSlack slack = depth_slack({.significant_bits = 11}, 0);
  const double least = slack[static_cast<std::size_t>(depth_group(0x1p-14f))];
  EXPECT_GE(least, std::expm1(0x1p-8));
  EXPECT_LT(least, std::expm1(0x1.01p-8));
  EXPECT_LT(depth_slack({.significant_bits = 24}, 0)[20], 1e-5);
}

TEST(AcceptedBets, HaveMeanAtMostOneAndSeeExcess) {
  RowGroups rows;
  const std::vector<float> p{0.5f, 0.3f, 0.2f}, q{0.2f, 0.3f, 0.5f};
  group_rows(p, q, DepthSlack{}, DepthSlack{}, rows);
  // Rejection sampling accepts min(p, q): .2, .3, .2.
  double mean = 0.3 * [&] {
    AcceptedBets bets;
    bets.add(rows, 1, -1, 0);
    return std::exp(bets.log_e());
  }();
  for (const auto& [x, accepted] : {std::pair{0, 0.2}, {1, 0.3}, {2, 0.2}}) {
    AcceptedBets bets;
    bets.add(rows, 1, ratio_group(p[static_cast<std::size_t>(x)], q[static_cast<std::size_t>(x)]), 0);
    mean += accepted * std::exp(bets.log_e());
  }
  EXPECT_NEAR(mean, 1, 1e-6);  // p and q are rounded to single precision
  AcceptedBets always, right;
  for (std::uint64_t i = 0; i < 200; ++i) {
    always.add(rows, 1, ratio_group(0.5f, 0.2f), i);
    right.add(rows, 1, i % 10 < 7 ? ratio_group(0.3f, 0.3f) : -1, i);
  }
  EXPECT_GT(always.log_e(), 50);
  EXPECT_EQ(always.worst().where.substr(0, 8), "accepted");
}

}  // namespace
}  // namespace draftproof
