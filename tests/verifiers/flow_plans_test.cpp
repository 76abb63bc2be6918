// Tests of schemes whose plan is a maximum flow, on all or part of the vocabulary, or a numerical fit. Flows reach the
// optimum, exactly in fractions and up to rounding in double; fits have at most the error that they report.
// golden_test.cpp compares these schemes with reference cases.
#include <cmath>
#include <iostream>

#include <gtest/gtest.h>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/sim/drafters/fixed.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/tests/support/planned.hpp>
#include <draftproof/verifiers/canonical_two_step_independent.hpp>
#include <draftproof/verifiers/global_resolution.hpp>
#include <draftproof/verifiers/ladder_independent.hpp>
#include <draftproof/verifiers/optimal_transport_independent.hpp>
#include <draftproof/verifiers/optimal_transport_tail_draw.hpp>
#include <draftproof/verifiers/optimal_transport_wor.hpp>
#include <draftproof/verifiers/optimal_transport_wor_uniform.hpp>
#include <draftproof/verifiers/tournament.hpp>
#include <draftproof/verifiers/truncated_alphabet.hpp>
#include <draftproof/verifiers/truncated_lp.hpp>

namespace draftproof {
namespace {

using planned::expect_lossless;
using planned::for_instances;
using verifiers::GlobalResolution;
using verifiers::LadderIndependent;
using verifiers::Tournament;
using verifiers::TruncatedAlphabet;
using verifiers::TruncatedLp;

TEST(MaxFlow, OfANetworkWorkedByHand) {
  // The network has the source 0, the sets 1 = {3, 4} and 2 = {3}, the tokens 3 and 4, the sink 5, and capacity 1 on
  // every edge. Set 1 gets token 3 first and must release it for set 2.
  MaxFlow<int> network(6);
  network.add_edge(0, 1, 1);
  network.add_edge(0, 2, 1);
  const int first = network.add_edge(1, 3, 1), second = network.add_edge(1, 4, 1), only = network.add_edge(2, 3, 1);
  network.add_edge(3, 5, 1);
  network.add_edge(4, 5, 1);
  network.run(0, 5);
  EXPECT_EQ(network.flow(first), 0);
  EXPECT_EQ(network.flow(second), 1);
  EXPECT_EQ(network.flow(only), 1);
}

TEST(MaxFlow, CapacitiesOfDoublesNeverGrow) {
  for (const double x : {0.0, 0x1p-60, 0.1, 1.0 / 3, 1 - 0x1p-53, 1.0}) {
    const double kept = from_capacity<double>(to_capacity(x));
    EXPECT_LE(kept, x);
    EXPECT_LT(x - kept, 0x1p-52);
  }
}

TEST(FlowPlans, ReachTheOptimumOfEveryDraftSampling) {
  expect_lossless(verifiers::OptimalTransport{}, "iid", true);
  expect_lossless(verifiers::OptimalTransportWor{}, "without_replacement", true);
  expect_lossless(verifiers::OptimalTransportWorUniform{}, "without_replacement_uniform", true);
  expect_lossless(verifiers::OptimalTransportIndependent{}, "independent", true);
  expect_lossless(verifiers::OptimalTransportTailDraw{}, "tail_draw", true);
  expect_lossless(verifiers::CanonicalTwoStep{}, "iid", true);
  expect_lossless(verifiers::CanonicalTwoStepIndependent{}, "independent", true);
  // Truncated plans use a flow for tuples of the `inside` most important tokens and the ladder for other tuples. For
  // i.i.d. drafts these plans are optimal, because the ladder is optimal and the flow accepts as much as the ladder.
  for (const int inside : {0, 1, 2, 3, 99}) expect_lossless(TruncatedLp{.inside = inside}, "iid", true);
  expect_lossless(TruncatedAlphabet{.inside = 99}, "independent", true);
}

TEST(FlowPlans, AreLosslessForAnySubset) {
  for (const int inside : {0, 2}) expect_lossless(TruncatedAlphabet{.inside = inside}, "independent", false, 40);
  // Runs few instances, because the fractions become longer with every round of the tournament.
  expect_lossless(Tournament{.inside = 1}, "independent", false, 12);
}

// V = 80 and K = 2 in double, a size beyond proofs. The flow falls short of the scan's optimum by less than 2^-52 for
// each of 3,240 sets and 80 tokens, and exceeds the scan's optimum by at most the rounding of the enumerated
// probabilities of the sets, 2^-52 per set.
TEST(OptimalTransport, AgreesWithTheRatioScanInDouble) {
  constexpr int vocabulary = 80;
  std::vector<double> p, q;
  for (int x = 0; x < vocabulary; ++x) {
    p.push_back(1.0 / (x + 1));
    q.push_back(1.0 / ((x * 7) % vocabulary + 2));
  }
  const RatioTable table(examples::normalised(p), examples::normalised(q));
  const auto plan = verifiers::OptimalTransport{}.prepare(table, 2);
  EXPECT_EQ(plan.core->drafts.size(), 3240u);
  double served = 0;
  for (const double s : plan.core->served) served += s;
  const double optimum = iid_optimum(table, 2).acceptance;
  EXPECT_LT(optimum, 0.99);
  EXPECT_NEAR(served, optimum, 3320 * 0x1p-52);
}

// Where the optimum of a draft sampling has a closed form, a flow reaches the same optimum.
template <class Drafter>
struct Transport : verifiers::OptimalTransportOf<Drafter> {
  static constexpr Info info{
      .name = "transport", .summary = "for a test", .source = "none", .most_drafts = Drafter::info.most_drafts};
};
TEST(OptimalTransport, ReachesTheOptimumOfDistributionsWithAClosedForm) {
  expect_lossless(Transport<drafters::Greedy>{}, "greedy", true);
  expect_lossless(Transport<drafters::Hub>{}, "hub", true);
  expect_lossless(Transport<drafters::FixedTopK>{}, "fixed_top_k", true);
}

/// Two-step verification with arbitrary weights: member j of a set has mass in proportion to a number that depends on
/// the seed, the set and j only.
template <class Drafter>
struct RandomTwoStep : verifiers::CanonicalTwoStepOf<Drafter> {
  static constexpr Info info{.name = "random_two_step", .summary = "for a test", .source = "none"};
  std::uint64_t seed = 0;

  template <Distributions L>
  verifiers::TwoStepPlan<L> prepare(const L& distributions, int drafts) const {
    using Scalar = typename L::Scalar;
    TransportPlan<Scalar> plan{draft_sets<Drafter>(distributions, drafts), {}, {}};
    plan.served.assign(static_cast<std::size_t>(distributions.vocabulary()), Scalar{0});
    for (std::size_t i = 0; i < plan.drafts.size(); ++i) {
      InstanceRng dice(seed, i);
      auto& share = plan.share.emplace_back();
      Scalar left = plan.drafts.probability[i];
      for (const Token x : plan.drafts.sets[i]) {
        const bool last = x == plan.drafts.sets[i].back();
        share.push_back(last ? left : Scalar(left * Scalar(dice.between(0, 4)) / Scalar(4)));
        left -= share.back();
        plan.served[static_cast<std::size_t>(x)] += share.back();
      }
      share.push_back(left);
    }
    return {distributions, std::move(plan)};
  }
};
TEST(CanonicalTwoStep, IsLosslessForAnyWeights) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    RandomTwoStep<drafters::Iid> iid;
    RandomTwoStep<drafters::Independent> independent;
    iid.seed = independent.seed = seed;
    expect_lossless(iid, "iid", false, 60);
    expect_lossless(independent, "independent", false, 60);
  }
}

TEST(TruncatedLp, TokensInsideHaveAtMostAThousandSets) {
  EXPECT_EQ(affordable_tokens(1, 40), 40);
  EXPECT_EQ(affordable_tokens(2, 40), 40);   // 40 + 780 sets
  EXPECT_EQ(affordable_tokens(4, 40), 12);   // 12 + 66 + 220 + 495 = 793; 13 tokens have 1092
  EXPECT_EQ(affordable_tokens(8, 40), 10);   // 2^10 - 1 minus the 11 sets of 9 and 10 tokens: 1012
  EXPECT_EQ(affordable_tokens(32, 40), 10);  // 1023
  EXPECT_EQ(affordable_tokens(2, 3), 3);
}

// At V = 20,011, p_I, the distribution of the selected draft, sums to 1, and sum min(p, p_I) is the optimum within the
// 1e-12 that the ladder promises. The accepted share of trials agrees with sum min(p, p_I) within five standard
// deviations (2 per 10^6 false alarms; the seed is fixed).
TEST(TruncatedLp, AttainsTheOptimumAtALargeVocabulary) {
  const RatioTable table(planned::zipf(20'011, 1.2, 1), planned::zipf(20'011, 1.0, 1));
  for (const int drafts : {2, 4}) {
    const auto distribution = AlphabetPlan(table, drafts, 1, 10).distribution;
    double total = 0, accepted = 0;
    for (Token x = 0; x < table.vocabulary(); ++x) {
      const double selected = distribution[static_cast<std::size_t>(x)];
      total += selected;
      accepted += std::min(selected, table.target(x));
    }
    EXPECT_NEAR(total, 1, 20'011 * 0x1p-52);
    EXPECT_NEAR(accepted, iid_optimum(table, drafts).acceptance, 1e-12);
    constexpr int trials = 100'000;
    const VerifierOf<TruncatedLp> scheme(Kind::verifier);
    EXPECT_NEAR(planned::flagged_share(scheme, "iid", table, drafts, trials, 11), accepted,
                5 * std::sqrt(accepted * (1 - accepted) / trials));
  }
}

/// Returns sum min(p, p_I); p_I is the distribution of the selected draft.
template <class DistributionOf>
Rational overlap(const Rows<Rational>& rows, const DistributionOf& distribution_of) {
  Rational sum = 0;
  for (Token x = 0; x < rows.vocabulary(); ++x) sum += std::min<Rational>(rows.target(x), distribution_of(x));
  return sum;
}

TEST(TruncatedAlphabet, LosesAtMostTheTuplesOutsideAndNothingAgainstTheLadder) {
  int above = 0;
  for (const int inside : {1, 2, 3}) {
    for_instances(TruncatedAlphabet{}, "independent", 80, [&](InstanceAnalysis& at, const Instance& instance) {
      const Rows<Rational> rows = instance.rows();
      const int drafts = instance.drafts;
      Rational all_inside = 1;
      for (int k = 0; k < drafts; ++k) {
        Rational row = 0;
        for (const Token x : draftable_tokens(rows, drafts, static_cast<std::size_t>(inside)))
          row += rows.proposal(x, k);
        all_inside *= row;
      }
      const AlphabetPlan plan(rows, drafts, drafts, inside);
      const auto ladder = LadderIndependent{}.prepare(rows, drafts);
      const Rational with = overlap(rows, [&](Token x) { return plan.distribution[static_cast<std::size_t>(x)]; });
      const Rational alone = overlap(rows, [&](Token x) { return ladder.selected.of(x); });
      EXPECT_GE(with, at.optimum() - (1 - all_inside)) << inside << ' ' << instance.text();
      EXPECT_GE(with, alone) << inside << ' ' << instance.text();
      above += with > alone;
    });
  }
  EXPECT_GT(above, 0) << "the flow never gained: it is not exercised";
}

// At V = 5,000 with two proposals, p_I sums to 1, and the accepted share of trials agrees with sum min(p, p_I) within
// five standard deviations (a false alarm has probability 6e-7; the seed is fixed).
TEST(ReducedPlans, RunAtALargeVocabulary) {
  constexpr int vocabulary = 5000, trials = 100'000;
  const std::vector<std::vector<double>> proposals{planned::zipf(vocabulary, 1.1, 1),
                                                   planned::zipf(vocabulary, 1.3, 4999)};
  const RatioTable table(planned::zipf(vocabulary, 1.5, 1), proposals);
  const auto expect_trials = [&](const AnyVerifier& scheme, const auto& distribution_of) {
    double mass = 0, share = 0;
    for (Token x = 0; x < vocabulary; ++x) {
      mass += distribution_of(x);
      share += std::min<double>(distribution_of(x), table.target(x));
    }
    EXPECT_NEAR(mass, 1, 2 * vocabulary * 0x1p-52);
    EXPECT_NEAR(planned::flagged_share(scheme, "independent", table, 2, trials, 3), share,
                5 * std::sqrt(share * (1 - share) / trials));
  };
  const AlphabetPlan alphabet(table, 2, 2, 40);
  const VerifierOf<TruncatedAlphabet> truncated(Kind::verifier);
  expect_trials(truncated, [&](Token x) { return alphabet.distribution[static_cast<std::size_t>(x)]; });
  const auto ladder = LadderIndependent{}.prepare(table, 2);
  const VerifierOf<LadderIndependent> groups(Kind::verifier);
  expect_trials(groups, [&](Token x) { return ladder.selected.of(x); });
  const auto bracket = Tournament{}.prepare(table, 2);
  const VerifierOf<Tournament> tournament(Kind::verifier);
  expect_trials(tournament, [&](Token x) { return bracket.selected.of(x); });
}

// The tournament is optimal for two drafts. Acceptance never falls with one more draft, because the additional round
// can keep the earlier winner.
TEST(Tournament, IsOptimalForTwoDraftsAndNeverLosesByAThird) {
  int below = 0;
  for_instances(Tournament{}, "independent", 240, [&](InstanceAnalysis& at, const Instance& instance) {
    if (instance.drafts <= 2) {
      EXPECT_EQ(at.distribution().draft_accepted, at.optimum()) << instance.text();
      return;
    }
    Instance fewer = instance;
    --fewer.drafts;
    fewer.proposals.pop_back();
    EXPECT_GE(at.distribution().draft_accepted, at.distribution_of(fewer).draft_accepted) << instance.text();
    below += at.distribution().draft_accepted < at.optimum();
  });
  for (int n = 0; n < 40; ++n) {
    const Instance instance = generate_instance(2026, n, 3, true);
    const Rows<Rational> rows = instance.rows();
    Rational fewer = 0;
    for (int drafts = 1; drafts <= instance.drafts; ++drafts) {
      const auto plan = Tournament{.inside = 1}.prepare(rows, drafts);
      const Rational more = overlap(rows, [&](Token x) { return plan.selected.of(x); });
      EXPECT_GE(more, fewer) << drafts << ' ' << instance.text();
      fewer = more;
    }
  }
  EXPECT_GT(below, 0)
      << "no instance showed that more than two drafts are not optimal: the distribution is not exercised";
}

/// The error of a marginal: a sum over fewer than 256 sets, each with a few roundings of 2^-53 of its mass.
constexpr double marginal_rounding = 256 * 0x1p-53;

// The set {0, 1} has probability 1/2, {0} and {1} have 1/4 each. For the output (2/5, 3/5), the set {0, 1} must yield
// token 0 with probability (0.4 - 0.25) / 0.5 = 0.15 / 0.5.
TEST(SoftmaxFit, WorkedByHand) {
  const std::vector<SoftmaxChoice> choices{{{0}, 0.25}, {{1}, 0.25}, {{0, 1}, 0.5}};
  const std::vector<double> wanted{0.4, 0.6};
  const SoftmaxFit fit(choices, wanted, 1e-12);
  EXPECT_LE(fit.error(), 1e-12);
  const auto odds = fit.odds({0, 1});
  EXPECT_NEAR(odds[0] / (odds[0] + odds[1]), 0.3, 1e-11);
}

// The solution is on the boundary: token 0 must come only from the set {0}, so the fitted weight (level) of token 0
// falls without limit. The error of the output still becomes small.
TEST(SoftmaxFit, ReachesFaces) {
  const std::vector<SoftmaxChoice> choices{{{0}, 0.25}, {{1}, 0.25}, {{0, 1}, 0.5}};
  const std::vector<double> wanted{0.25, 0.75};
  EXPECT_LE(SoftmaxFit(choices, wanted, 1e-9).error(), 1e-9);
}

TEST(GlobalResolution, KeepsToTheErrorItReports) {
  for (const double tolerance : {1e-2, 1e-4, 1e-8}) {
    const GlobalResolution scheme{.tolerance = tolerance};
    int cut = 0;
    for_instances(scheme, "iid", 100, [&](InstanceAnalysis& at, const Instance& instance) {
      const auto plan = scheme.prepare(instance.rows(), instance.drafts);
      EXPECT_LE(plan.core->error, tolerance / 2) << instance.text();
      const auto& distribution = at.distribution();
      ASSERT_TRUE(distribution.complete);
      EXPECT_EQ(distribution.mass, 1);
      const auto tv = static_cast<double>(total_variation(distribution.output, normalised(instance.target)));
      EXPECT_LE(tv, plan.core->error + marginal_rounding) << instance.text();
      EXPECT_EQ(distribution.draft_accepted, distribution.draft_emitted) << instance.text();
      const auto optimum = static_cast<double>(at.optimum());
      EXPECT_NEAR(static_cast<double>(distribution.draft_accepted), optimum, 2 * plan.core->error + marginal_rounding)
          << instance.text();
      EXPECT_NEAR(plan.core->acceptance, optimum, marginal_rounding) << instance.text();
      cut += optimum < 1;
    });
    EXPECT_GT(cut, 30) << "too few instances refuse anything: the inner plan is not exercised";
  }
}

// Tests the plan's error bound when T = 0, 1, 2 or all tokens outside the cut are fitted. The published bounds are 15
// tau for the L1 error and 10 tau for the loss of acceptance; without truncation, 1 tau is enough for both, because the
// fits stop at tau.
TEST(GlobalResolution, KeepsToTheErrorItReportsWhenTruncated) {
  for (const double tolerance : {1e-3, 1e-4}) {
    int examined = 0, truncated = 0, worse_than_tolerance = 0;
    for (const std::size_t truncation :
         {std::size_t{0}, std::size_t{1}, std::size_t{2}, ResolutionPlan::everything}) {
      const GlobalResolution scheme{.tolerance = tolerance, .truncation = truncation};
      examined += for_instances(scheme, "iid", 180, [&](InstanceAnalysis& at, const Instance& instance) {
        const auto plan = scheme.prepare(instance.rows(), instance.drafts);
        const ResolutionPlan& core = *plan.core;
        const auto& distribution = at.distribution();
        ASSERT_TRUE(distribution.complete);
        ASSERT_EQ(distribution.mass, 1) << instance.text();
        // Computes eps_T in fractions: 1 minus the probability that all drafts are kept tokens.
        Rational inside = 0;
        const auto q = normalised(instance.proposals.front());
        for (std::size_t x = 0; x < q.size(); ++x)
          if (core.rank[x] >= 0 && core.kept[static_cast<std::size_t>(core.rank[x])]) inside += q[x];
        EXPECT_NEAR(core.truncated, 1 - static_cast<double>(acceptance::power(inside, instance.drafts)),
                    marginal_rounding);
        EXPECT_LE(core.error, core.gradient / 2 + core.truncated + marginal_rounding);
        const auto tv = static_cast<double>(total_variation(distribution.output, normalised(instance.target)));
        EXPECT_LE(tv, core.error + marginal_rounding) << instance.text() << " T = " << truncation;
        EXPECT_GE(tv, core.error - core.gradient - marginal_rounding) << instance.text() << ": the bound is loose";
        EXPECT_EQ(distribution.draft_accepted, distribution.draft_emitted) << instance.text();
        const double loss = static_cast<double>(at.optimum()) - static_cast<double>(distribution.draft_accepted);
        EXPECT_LE(std::abs(loss), core.gradient + marginal_rounding) << instance.text() << " T = " << truncation;
        if (truncation == ResolutionPlan::everything) {
          EXPECT_EQ(core.truncated, 0);
          EXPECT_LE(2 * tv, tolerance + marginal_rounding);
          EXPECT_LE(loss, tolerance + marginal_rounding);
        }
        truncated += core.truncated > 0;
        worse_than_tolerance += tv > tolerance;
      });
    }
    EXPECT_GE(examined, 500);
    EXPECT_GT(truncated, 150);
    EXPECT_GT(worse_than_tolerance, 50) << "truncation that never shows does not test its bound";
  }
}

// Equal tokens are on the same side of the truncation, independently of their ids.
TEST(GlobalResolution, TruncationDoesNotSplitEqualTokens) {
  const std::vector<double> p{0.4, 0.2, 0.2, 0.2}, q{0.4, 0.2, 0.2, 0.2};
  const ResolutionPlan plan(p, q, 2, 1e-4, 2);
  for (const Token x : {1, 2, 3})
    EXPECT_TRUE(plan.kept[static_cast<std::size_t>(plan.rank[static_cast<std::size_t>(x)])]);
  const ResolutionPlan one(p, q, 2, 1e-4, 1);
  for (const Token x : {1, 2, 3})
    EXPECT_FALSE(one.kept[static_cast<std::size_t>(one.rank[static_cast<std::size_t>(x)])]);
  EXPECT_NEAR(one.truncated, 1 - 0.4 * 0.4, 1e-15);
}

}  // namespace
}  // namespace draftproof
