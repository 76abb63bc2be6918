// Compares closed forms of the distribution of (accepted draft, token) with an exact enumeration of the scheme.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/properties/simulation/joint_distribution.hpp>

namespace draftproof {
namespace {

/// Returns the mass of every (row, token), by an enumeration of drafter and verifier on the table; a row stands for an
/// accepted draft, or for no accepted draft.
JointRows enumerated_rows(const AnyVerifier& verifier, const AnyDrafter& drafter, const RatioTable& table, int drafts,
                          std::size_t count) {
  JointRows rows(count, std::vector<double>(static_cast<std::size_t>(table.vocabulary())));
  const auto decider = verifier.explore_on(table, drafts);
  Token tuple[max_drafts];
  int length = 0;
  const auto add = [&](Token x, int accepted, double mass) {
    if (accepted == accepted_if_drafted) {
      accepted = none_accepted;
      for (int k = length - 1; k >= 0; --k)
        if (tuple[k] == x) accepted = k;
    }
    rows[path_of(accepted, count)][static_cast<std::size_t>(x)] += mass;
  };
  Explorer<double> explorer;
  explorer.with_rounding();  // a rejection due to rounding may leave an empty residual
  EXPECT_TRUE(explorer.explore(
      [&](Explorer<double>& random) {
        length = drafter.draw(table, drafts, random, tuple);
        return decider->decide({tuple, static_cast<std::size_t>(length)}, random);
      },
      [&](const Leaf<double>& leaf) {
        if (leaf.verdict.token >= 0) return add(leaf.verdict.token, leaf.verdict.accepted, leaf.probability);
        for (const auto& [x, weight] : leaf.spread)
          add(x, leaf.verdict.accepted, leaf.probability * weight / leaf.spread_total);
      }));
  return rows;
}

TEST(JointDistributions, EqualAnExactWalk) {
  registry();
  int compared = 0;
  for (const JointDistribution& distribution : known_joint_distributions().all()) {
    const AnyVerifier& verifier = *registry().verifier(distribution.verifier);
    for (const AnyDrafter* drafter : registry().drafters_of(verifier.info())) {
      if (!distribution.drafts.includes(drafter->info().name)) continue;
      for (int n = 0; n < 120; ++n) {
        const int most = verifier.info().most_drafts == 0 ? 3 : verifier.info().most_drafts;
        const Instance instance = generate_instance(5, n, most, false);
        if (!InstanceAnalysis::possible(verifier, *drafter, instance)) continue;
        SCOPED_TRACE(std::string(distribution.verifier) + " on " + instance.text());
        const auto doubles = [](const std::vector<int>& weights) {
          std::vector<double> row;
          for (const Rational& p : normalised(weights)) row.push_back(static_cast<double>(p));
          return row;
        };
        const RatioTable table(doubles(instance.target), {doubles(instance.proposals.front())});
        const JointRows rows = distribution.rows(table, instance.drafts);
        const JointRows enumerated = enumerated_rows(verifier, *drafter, table, instance.drafts, rows.size());
        for (std::size_t x = 0; x < instance.target.size(); ++x) {
          double sum = 0;
          for (std::size_t k = 0; k < rows.size(); ++k) {
            // Closed form and enumeration each have the errors of a few dozen roundings of numbers below 1.
            ASSERT_NEAR(rows[k][x], enumerated[k][x], 1e-14) << "row " << k << " token " << x;
            sum += rows[k][x];
          }
          ASSERT_NEAR(sum, table.target(static_cast<Token>(x)), 1e-14);
        }
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 600);
}

TEST(JointDistributions, OfNobodyElse) {
  registry();
  EXPECT_TRUE(known_joint_distributions().of("recursive_rejection", "iid"));
  EXPECT_FALSE(known_joint_distributions().of("recursive_rejection", "without_replacement"));
  EXPECT_FALSE(known_joint_distributions().of("nobody", "iid"));
}

}  // namespace
}  // namespace draftproof
