// Selections for different proposals that are optimised in part: on a reduced alphabet, or in rounds of two drafts.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/tests/support/golden.hpp>
#include <draftproof/tests/support/planned.hpp>
#include <draftproof/verifiers/tournament.hpp>
#include <draftproof/verifiers/truncated_alphabet.hpp>

namespace draftproof {
namespace {

using planned::expect_lossless;
using planned::for_instances;
using verifiers::Tournament;
using verifiers::TruncatedAlphabet;

TEST(TruncatedAlphabet, IsLosslessForAnySubsetAndAnyFixedDraft) {
  for (const int inside : {0, 1, 2, 4})
    for (const int otherwise : {0, 1, 3})
      expect_lossless(TruncatedAlphabet{.inside = inside, .otherwise = otherwise}, "independent", false);
}

TEST(TruncatedAlphabet, IsOptimalWithAllTokensInside) {
  expect_lossless(TruncatedAlphabet{.inside = 99}, "independent", true);
}

TEST(TruncatedAlphabet, LosesAtMostTheTuplesOutside) {
  for (const int inside : {1, 2, 3}) {
    const TruncatedAlphabet scheme{.inside = inside};
    for_instances(scheme, "independent", 120, [&](InstanceAnalysis& at, const Instance& instance) {
      const Rows<Rational> rows = instance.rows();
      const auto plan = plan_alphabet(rows, instance.drafts, inside, 0);
      Rational all_inside = 1;
      for (int k = 0; k < instance.drafts; ++k) {
        Rational row = 0;
        for (const Token x : plan.tokens) row += rows.proposal(x, k);
        all_inside *= row;
      }
      EXPECT_GE(at.law().flag, at.optimum() - (1 - all_inside)) << inside << ' ' << instance.text();
    });
  }
}

// No token inside: only the fixed draft is verified, sum min(q_c, p) with p = (1/2 1/2), q_2 = (1/4 3/4).
TEST(TruncatedAlphabet, WithNothingInsideVerifiesTheFixedDraft) {
  const Instance instance = Instance::parse("p=(1 1)/2 q=(1 0)/1 q=(1 3)/4 K=2");
  const VerifierOf<TruncatedAlphabet> scheme(Kind::verifier, TruncatedAlphabet{.inside = 0, .otherwise = 1});
  InstanceAnalysis at(scheme, *registry().drafter("independent"), instance);
  EXPECT_EQ(at.law().flag, Rational(3, 4));
}

// V = 5,000, two proposals: the law of the plan is a law, and 400,000 trials agree with the closed form of
// acceptance within five standard deviations (6e-7 false alarms; none at this seed).
TEST(TruncatedAlphabet, RunsAtALargeVocabulary) {
  constexpr int vocabulary = 5000;
  std::vector<double> p(vocabulary);
  std::vector<std::vector<double>> q(2, p);
  double total[3] = {};
  for (int x = 0; x < vocabulary; ++x) {
    const auto i = static_cast<std::size_t>(x);
    total[0] += p[i] = std::pow(x + 1, -1.5);
    total[1] += q[0][i] = std::pow(x + 1, -1.1);
    total[2] += q[1][i] = std::pow((x + 3) % vocabulary + 1, -1.3);
  }
  for (std::size_t i = 0; i < vocabulary; ++i) p[i] /= total[0], q[0][i] /= total[1], q[1][i] /= total[2];
  const RatioTable table(p, q);
  const auto plan = plan_alphabet(table, 2, 12, 0);
  double mass = 0, accepted = 0;
  for (Token x = 0; x < vocabulary; ++x) {
    mass += plan.law[static_cast<std::size_t>(x)];
    accepted += std::min(plan.law[static_cast<std::size_t>(x)], table.target(x));
  }
  EXPECT_NEAR(mass, 1, vocabulary * 0x1p-53);

  const VerifierOf<TruncatedAlphabet> scheme(Kind::verifier);
  const auto decider = scheme.simulate_on(table, 2);
  constexpr int trials = 400'000, batch = 1000;
  std::vector<Token> drafts(2 * batch);
  std::vector<int> lengths(batch);
  std::vector<Verdict> verdicts(batch);
  std::int64_t flagged = 0;
  for (int first = 0; first < trials; first += batch) {
    const TrialBatch trial{3, static_cast<std::uint64_t>(first), batch, 2, drafts.data(), lengths.data()};
    registry().drafter("independent")->draw(table, 2, trial);
    decider->decide(trial, verdicts.data());
    for (const Verdict& verdict : verdicts) {
      ASSERT_GE(verdict.token, 0);
      flagged += verdict.accepted >= 0;
    }
  }
  EXPECT_NEAR(static_cast<double>(flagged) / trials, accepted, 5 * std::sqrt(accepted * (1 - accepted) / trials));
}

TEST(Tournament, IsLosslessAndAtMostOptimal) { expect_lossless(Tournament{}, "independent", false, 240); }

// Two drafts reach the optimum. With one draft more, a round may always keep its winner, so the flag never falls.
TEST(Tournament, IsOptimalForTwoDraftsAndNeverLosesByAThird) {
  int below = 0;
  for_instances(Tournament{}, "independent", 240, [&](InstanceAnalysis& at, const Instance& instance) {
    if (instance.drafts <= 2) {
      EXPECT_EQ(at.law().flag, at.optimum()) << instance.text();
      return;
    }
    Instance fewer = instance;
    --fewer.drafts;
    fewer.proposals.pop_back();
    EXPECT_GE(at.law().flag, at.law_of(fewer).flag) << instance.text();
    below += at.law().flag < at.optimum();
  });
  EXPECT_GT(below, 0) << "no instance showed that more than two drafts are not optimal: the law is not exercised";
}

// The reference optimum of different proposals. 1e-12 covers the flow's 2^-52 a set and token (at most 13 of
// them).
TEST(ReducedPlans, ReferenceCasesOfDifferentProposals) {
  static const VerifierOf<Tournament> tournament(Kind::verifier);
  static const VerifierOf<TruncatedAlphabet> alphabet(Kind::verifier);
  int compared = 0;
  for (const golden::Case& c : golden::cases()) {
    if (c.scheme != "ot_lp" || c.draft_law != "indep") continue;
    const Rows<double> rows(c.p, c.q);
    const RatioTable table(c.p, c.q);
    const AnyDrafter& drafter = *registry().drafter("independent");
    const auto folded = explore_law(drafter, *tournament.explore_on(rows, c.drafts), rows, c.drafts);
    EXPECT_LE(folded.flag, c.optimum + 1e-12) << c.id;
    if (c.drafts == 2) {
      EXPECT_NEAR(folded.flag, c.optimum, 1e-12) << c.id;
    }
    const auto plain = explore_law(drafter, *alphabet.explore_on(rows, c.drafts), rows, c.drafts);
    const auto prepared = explore_law(drafter, *alphabet.explore_on(table, c.drafts), table, c.drafts);
    EXPECT_NEAR(plain.flag, c.optimum, 1e-12) << c.id;
    EXPECT_NEAR(prepared.flag, c.optimum, 1e-12) << c.id;
    for (std::size_t x = 0; x < c.p.size(); ++x) {
      EXPECT_NEAR(folded.output[x], c.p[x], 1e-12) << c.id;
      EXPECT_NEAR(plain.output[x], c.p[x], 1e-12) << c.id;
      EXPECT_NEAR(prepared.output[x], c.p[x], 1e-12) << c.id;
    }
    ++compared;
  }
  EXPECT_EQ(compared, 3);
}

}  // namespace
}  // namespace draftproof
