// A plan of refusals changes the cost of a decision and never the decision: every trial has the same verdict without
// it.
#include <gtest/gtest.h>

#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/verifiers/recursive_rejection_random_order.hpp>

namespace draftproof {
namespace {

/// Number of trials of K drafts in which nothing was accepted; each is decided with and without `plan`.
int refused_trials(const RatioTable& table, const RefusalPlan<RatioTable>& plan, int drafts) {
  const verifiers::RecursiveRejectionRandomOrder scheme;
  int refused = 0;
  for (std::uint64_t trial = 0; trial < 4000; ++trial) {
    Token tuple[max_drafts];
    Philox drafting(21, trial, Philox::Role::draft), planned(21, trial, Philox::Role::verify), plain = planned;
    const int count = drafters::Independent{}.draw(table, drafts, drafting, tuple);
    const DraftedPosition<RatioTable> at(table, tuple, count);
    const Verdict with = scheme.verify(at, plan, planned), without = scheme.verify(at, plain);
    EXPECT_EQ(with.token, without.token) << "trial " << trial;
    EXPECT_EQ(with.accepted, without.accepted) << "trial " << trial;
    refused += without.accepted < 0;
  }
  return refused;
}

std::vector<double> sloped_row(std::uint64_t seed) { return examples::random_row(seed, 40, 4, 0.2); }

TEST(RefusalPlan, DecidesAsTheSumsOfTheTrialWould) {
  for (int drafts = 1; drafts <= 5; ++drafts) {
    std::vector<std::vector<double>> proposals;
    for (int k = 0; k < drafts; ++k) proposals.push_back(sloped_row(static_cast<std::uint64_t>(30 + k)));
    const RatioTable table(sloped_row(3), proposals);
    const RefusalPlan<RatioTable> plan(table, drafts);
    EXPECT_EQ(plan.covers(drafts), drafts <= RefusalPlan<RatioTable>::most_orders_of);
    EXPECT_GT(refused_trials(table, plan, drafts), 100) << drafts << " drafts";
  }
}

TEST(RefusalPlan, OneProposalHasOneOrderForAnyNumberOfDrafts) {
  const RatioTable table(sloped_row(4), sloped_row(5));
  for (const int drafts : {1, 2, 6, max_drafts}) {
    const RefusalPlan<RatioTable> plan(table, drafts);
    EXPECT_TRUE(plan.covers(drafts));
    const int refused = refused_trials(table, plan, drafts);
    EXPECT_GT(refused, drafts > 6 ? -1 : 20) << drafts << " drafts";
  }
}

TEST(RefusalPlan, FewerDraftsThanPlannedAreDecidedWithoutIt) {
  const RatioTable table(sloped_row(6), std::vector{sloped_row(7), sloped_row(8), sloped_row(9)});
  const RefusalPlan<RatioTable> plan(table, 3);
  EXPECT_FALSE(plan.covers(2));
  EXPECT_GT(refused_trials(table, plan, 2), 100);
}

TEST(RefusalPlan, EqualLawsLeaveNothingAfterTheFirstTest) {
  const std::vector<double> row = sloped_row(10);
  const RatioTable table(row, row);
  EXPECT_EQ(refused_trials(table, RefusalPlan<RatioTable>(table, 3), 3), 0);
}

}  // namespace
}  // namespace draftproof
