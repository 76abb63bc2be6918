// Tests of the bets of an audit, on groups of tokens and on moved mass.
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/properties/statistics/audit_banks.hpp>
#include <draftproof/properties/statistics/group_bets.hpp>
#include <draftproof/properties/statistics/moved_mass_bets.hpp>
#include <draftproof/properties/statistics/row_groups.hpp>

namespace draftproof {
namespace {

/// Returns a design of three groups with every kind of bet.
GroupDesign three_groups() {
  return {.name = "three",
          .groups = 3,
          .cuts = {{1, "first", "others"}, {2, "not last", "last"}},
          .scores = {{"rising", {-1, 0, 2}, {0.5, -0.5}}}};
}

/// Returns the mean of the sum of the two e-values of `before`, exp(log_e()) and exp(log_e_of_parts()), after `left`
/// more records, whose groups are drawn from `distribution` and judged against `mass` with `slack`.
double mean_e(const GroupBets& before, const std::array<double, 3>& mass, const std::array<double, 3>& slack,
              const std::array<double, 3>& distribution, int left) {
  if (left == 0) return std::exp(before.log_e()) + std::exp(before.log_e_of_parts());
  double mean = 0;
  for (int g = 0; g < 3; ++g) {
    GroupBets after = before;
    after.add(mass, slack, g, 0, left % 2);
    mean += distribution[static_cast<std::size_t>(g)] * mean_e(after, mass, slack, distribution, left - 1);
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
    std::array<double, 3> slack{}, distribution{};
    double sum = 0;
    for (std::size_t g = 0; g < 3; ++g) {
      const double h = 0.05 * std::abs(any(random));
      slack[g] = mass[g] * std::expm1(h);
      distribution[g] = mass[g] * std::exp(h * (any(random) > 0 ? 1 : -1));  // the largest change within the slack
      sum += distribution[g];
    }
    for (double& p : distribution) p /= sum;
    EXPECT_LE(mean_e(GroupBets(three_groups(), 2), mass, slack, distribution, 3), 2 + 1e-12);
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
  // p = 2^-14 has the logarithm -9.7. Half a unit in the last digit of a float16 in [8, 16) is 2^-8.
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
  // Rejection sampling accepts token x with probability min(p, q), which is .2, .3, .2.
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
  EXPECT_NEAR(mean, 1, 1e-6);  // the tolerance covers the rounding of p and q to single precision
  AcceptedBets always, right;
  for (std::uint64_t i = 0; i < 200; ++i) {
    always.add(rows, 1, ratio_group(0.5f, 0.2f), i);
    right.add(rows, 1, i % 10 < 7 ? ratio_group(0.3f, 0.3f) : -1, i);
  }
  EXPECT_GT(always.log_e(), 50);
  EXPECT_EQ(always.worst().where.substr(0, 8), "accepted");
}

using Distribution = std::vector<double>;

/// A pair of rows in float32, as in a recording, with the groups of their tokens. No slack for rounding is needed.
struct Rows {
  std::vector<float> p, q;
  RowGroups groups{};

  Rows(const Distribution& target, const Distribution& proposal)
      : p(target.begin(), target.end()), q(proposal.begin(), proposal.end()) {
    group_rows(p, q, DepthSlack{}, DepthSlack{}, groups);
  }
  bool top(std::size_t x) const { return p[x] == groups.largest_p; }
};

/// Returns the mean of e after `left` records, over all (draft, verdict, token) of rejection sampling with target
/// `used`. Bets come in pairs of opposite sign, so an error that both share cancels after one record but not after two.
double mean_e(const MovedMassBets& before, const Rows& rows, const Distribution& used, const Distribution& proposal,
              bool drafts, int left = 2) {
  if (left == 0) return std::exp(before.log_e());
  const std::size_t size = used.size();
  double refused = 0, mean = 0;
  for (std::size_t x = 0; x < size; ++x) refused += std::max(proposal[x] - used[x], 0.0);
  const auto add = [&](double probability, MovedVerdict verdict) {
    if (!(probability > 0)) return;
    MovedMassBets after = before;
    add_moved_verdict(after, rows.groups, verdict, drafts, 0);
    mean += probability * mean_e(after, rows, used, proposal, drafts, left - 1);
  };
  for (std::size_t x = 0; x < size; ++x) {
    add(std::min(used[x], proposal[x]), rows.top(x) ? MovedVerdict::accepted_top : MovedVerdict::accepted);
    for (std::size_t y = 0; y < size; ++y) {
      const double gone = std::max(proposal[x] - used[x], 0.0), drawn = std::max(used[y] - proposal[y], 0.0);
      if (gone > 0 && drawn > 0)
        add(gone * drawn / refused, rows.top(y)   ? MovedVerdict::rejected_for_top
                                    : rows.top(x) ? MovedVerdict::rejected_top
                                                  : MovedVerdict::rejected);
    }
  }
  return mean;
}

// Entries are multiples of 1/8, which float32 represents exactly. The last two pairs have several most probable
// tokens, of which one is drafted too often and another too rarely.
const std::vector<std::pair<Distribution, Distribution>> pairs{{{0.5, 0.25, 0.25}, {0.25, 0.5, 0.25}},
                                                               {{0.5, 0.25, 0.25}, {0.75, 0.125, 0.125}},
                                                               {{0.5, 0.25, 0.25}, {0.5, 0.25, 0.25}},
                                                               {{0.375, 0.375, 0.25}, {0.5, 0.25, 0.25}},
                                                               {{0.25, 0.25, 0.25, 0.25}, {0.5, 0.125, 0.25, 0.125}}};

TEST(MovedMassBets, HaveMeanOne) {
  for (const auto& [p, q] : pairs)
    for (const bool drafts : {true, false}) {
      const Rows rows(p, q);
      MovedMassBets bets = moved_verdicts("");
      EXPECT_NEAR(mean_e(bets, rows, p, q, drafts), 1, 1e-12) << p[0] << ' ' << q[0];
      const std::array<double, 2> distribution{rows.groups.top.mass[0], rows.groups.top.mass[1]};
      double mean = 0;
      for (const bool top : {true, false}) {
        MovedMassBets tokens = moved_tokens("");
        add_moved_token(tokens, rows.groups, top, 0);
        mean += distribution[top ? 0 : 1] * std::exp(tokens.log_e());
      }
      EXPECT_NEAR(mean, 1, 1e-12);
    }
}

/// The rows are stored in float16. For every true row that rounds to the stored row, the mean is at most 1.
TEST(MovedMassBets, HaveMeanAtMostOneWithinTheSlack) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> any(-1, 1);
  const DepthSlack slack = depth_slack({.significant_bits = 11, .logarithms = true}, 0);
  for (int trial = 0; trial < 400; ++trial) {
    const auto& [p, q] = pairs[static_cast<std::size_t>(trial) % pairs.size()];
    Rows rows(p, q);
    group_rows(rows.p, rows.q, slack, slack, rows.groups);
    const auto moved = [&](const Distribution& stored) {
      Distribution distribution;
      double sum = 0;
      for (const double x : stored) {
        const double h = std::log1p(slack[static_cast<std::size_t>(depth_group(static_cast<float>(x)))]);
        distribution.push_back(x * std::exp(h * (any(random) > 0 ? 1 : -1)));
        sum += distribution.back();
      }
      for (double& x : distribution) x /= sum;
      return distribution;
    };
    EXPECT_LE(mean_e(moved_verdicts(""), rows, moved(p), moved(q), trial % 2 == 0), 1 + 1e-12);
  }
}

/// If p(most probable token) = 7/128 and 1 % of the mass is moved to it, the relative entropy of 4,000 records is 3.7
/// nats from tokens alone, and several times as much with drafts and verdicts. The bets must grow by the relative
/// entropy.
TEST(MovedMassBets, GrowByTheRelativeEntropy) {
  const double top = 7.0 / 128, share = 0.01;
  const auto entropy = [](double after, double before) { return after * std::log(after / before); };
  const double nats = entropy(top + share, top) + entropy(1 - top - share, 1 - top);
  RowGroups row;
  row.top.mass = {top, 1 - top};
  row.largest_p = static_cast<float>(top);
  MovedMassBets bets = moved_tokens("");
  const int records = 20000, tops = static_cast<int>(records * (top + share));
  for (int r = 0; r < records; ++r) add_moved_token(bets, row, r < tops, static_cast<std::uint64_t>(r));
  const double price = std::log(static_cast<double>(MovedMassBets::shares().size()));
  // The bet on this share alone gains records * nats; the average over all shares costs the logarithm of their number.
  // The constant 0.5 is for the rounding of counts.
  EXPECT_GE(bets.log_e(), records * nats - price - 0.5);
  EXPECT_LE(bets.log_e(), records * nats + 0.5);
  EXPECT_EQ(bets.worst().where, "most likely token");
}

TEST(MovedMassBets, NameTheSmallestShareThatTheyFind) {
  RowGroups row;
  row.top.mass = {0.0625, 0.9375};
  const auto found = [&](int records) {
    MovedMassBets bets = moved_tokens("");
    for (int r = 0; r < records; ++r) add_moved_token(bets, row, r % 16 == 0, static_cast<std::uint64_t>(r));
    const auto all = bets.smallest(std::log(2e9), 1);
    return all.empty() ? std::numeric_limits<double>::infinity() : all[0].total_variation;
  };
  EXPECT_EQ(found(100), std::numeric_limits<double>::infinity());
  EXPECT_EQ(found(20000), 0.025);  // a share of 1.5 % gains 36 +- 8.5 nats, too often below 24.2
  EXPECT_EQ(found(80000), 0.01);
}

}  // namespace
}  // namespace draftproof
