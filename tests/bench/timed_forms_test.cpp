// Tests the forms of verifiers that benchmarks time, which run on fresh rows of floats: every verifier that can be
// enumerated has its enumerated distribution.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/bench/groups/step_cost.hpp>
#include <draftproof/bench/run.hpp>
#include <draftproof/properties/paths/step_distribution.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/subjects/timed_forms.hpp>

namespace draftproof {
namespace {

constexpr int trials = 20'000;
/// Multiples of 1/32, which float and double both represent exactly.
const std::vector<double> target{0.4375, 0.28125, 0.1875, 0.09375}, proposal{0.15625, 0.34375, 0.25, 0.25};
const std::vector<float> target_float(target.begin(), target.end()), proposal_float(proposal.begin(), proposal.end());

/// Returns the t for which, by Hoeffding's inequality, a mean of n numbers in [0, most] is off by more than t with
/// probability at most 2 exp(-2 n t^2 / most^2) = 1e-10.
double bound(int most) { return most * std::sqrt(std::log(2 / 1e-10) / (2 * trials)); }

TEST(TimedForms, PositionsEmitAsExplored) {
  benchmarks::registered_benchmarks();
  const Rows<double> rows(target, {proposal});
  const RatioTable table(target, {proposal});
  const FreshRows<float> fresh(target_float, std::span<const float>(proposal_float));
  int compared = 0;
  for (const auto& verifier : registry().verifiers()) {
    const TimedForm form = timed_form<TimedForm>(verifier->info().name);
    const int drafts = verifier->takes(2) ? 2 : 1;
    const auto exploring = verifier->explore_on(rows, drafts);
    if (form == nullptr || !exploring) continue;
    for (const AnyDrafter* drafter : registry().drafters_of(verifier->info())) {
      if (!drafter->defined(rows.vocabulary(), drafts, 1)) continue;
      std::vector<double> expected(target.size()), emitted(target.size());
      const auto at = [](std::vector<double>& distribution, Token x) -> double& {
        return distribution[static_cast<std::size_t>(x)];
      };
      Explorer<double> explorer;
      EXPECT_TRUE(explorer.explore(
          [&](Explorer<double>& random) {
            Token tuple[max_drafts];
            const int count = drafter->draw(rows, drafts, random, tuple);
            return exploring->decide({tuple, static_cast<std::size_t>(count)}, random);
          },
          [&](const Leaf<double>& leaf) {
            if (leaf.verdict.token >= 0) at(expected, leaf.verdict.token) += leaf.probability;
            for (const auto& [token, weight] : leaf.spread)
              at(expected, token) += leaf.probability * (weight / leaf.spread_total);
          }));
      std::vector<Token> tokens(static_cast<std::size_t>(trials * drafts));
      std::vector<int> lengths(trials);
      const TrialBatch batch{1, 0, trials, drafts, tokens.data(), lengths.data()};
      drafter->draw(table, drafts, batch);
      std::vector<Verdict> verdicts(trials);
      form(fresh, drafts)->decide(batch, verdicts.data());
      for (const Verdict& verdict : verdicts) at(emitted, verdict.token) += 1.0 / trials;
      for (std::size_t x = 0; x < target.size(); ++x)
        EXPECT_NEAR(emitted[x], expected[x], bound(1)) << verifier->info().name << " " << drafter->info().name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 20);
}

TEST(TimedForms, PathsAcceptAsExplored) {
  benchmarks::registered_benchmarks();
  constexpr int length = 2;
  const benchmarks::SameAtAllDepths<Rows<double>> rows(length, [] { return Rows<double>(target, {proposal}); });
  const benchmarks::SameAtAllDepths<RatioTable> tables(length, [] { return RatioTable(target, {proposal}); });
  int compared = 0;
  for (const auto& verifier : path_registry().verifiers()) {
    const TimedPathForm form = timed_form<TimedPathForm>(verifier->info().name);
    const TreeShape shape{.drafts = verifier->takes(2) ? 2 : 1, .length = length};
    const auto exploring = verifier->explore_on(rows, shape);
    if (form == nullptr || !exploring || !verifier->info().drafts.lists("iid_paths")) continue;
    const AnyTreeDrafter& drafter = *path_registry().drafter("iid_paths");
    const double expected = explore_step_distribution<Rows<double>>(drafter, *exploring, rows, shape).mean_accepted();
    const benchmarks::SameAtAllDepths<FreshRows<float>> fresh(
        length, [] { return FreshRows<float>(target_float, std::span<const float>(proposal_float)); });
    const auto decider = form(fresh, shape);
    double sum = 0;
    DraftTree tree;
    for (std::uint64_t trial = 0; trial < trials; ++trial) {
      Philox drafting(1, trial, Philox::Role::draft), verifying(1, trial, Philox::Role::verify);
      tree.clear(0);
      drafter.draw(tables, shape, drafting, tree);
      sum += tree.depth(decider->decide(tree, {}, verifying).node);
    }
    EXPECT_NEAR(sum / trials, expected, bound(length)) << verifier->info().name;
    ++compared;
  }
  EXPECT_GT(compared, 4);
}

}  // namespace
}  // namespace draftproof
