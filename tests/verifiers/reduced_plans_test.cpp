// Selections for different proposals that are optimised in part: on a reduced alphabet, or in rounds of two drafts.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/tests/support/golden.hpp>
#include <draftproof/tests/support/planned.hpp>
#include <draftproof/verifiers/ladder_independent.hpp>
#include <draftproof/verifiers/tournament.hpp>
#include <draftproof/verifiers/truncated_alphabet.hpp>

namespace draftproof {
namespace {

using planned::expect_lossless;
using planned::for_instances;
using verifiers::LadderIndependent;
using verifiers::Tournament;
using verifiers::TruncatedAlphabet;

TEST(TruncatedAlphabet, IsLosslessForAnySubset) {
  for (const int inside : {0, 2}) expect_lossless(TruncatedAlphabet{.inside = inside}, "independent", false, 40);
}

TEST(TruncatedAlphabet, IsOptimalWithAllTokensInside) {
  expect_lossless(TruncatedAlphabet{.inside = 99}, "independent", true);
}

/// sum of min(p, p_I).
template <class LawOf>
Rational accepted(const Rows<Rational>& rows, const LawOf& law_of) {
  Rational sum = 0;
  for (Token x = 0; x < rows.vocabulary(); ++x) sum += std::min<Rational>(rows.target(x), law_of(x));
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
      const Rational with = accepted(rows, [&](Token x) { return plan.law[static_cast<std::size_t>(x)]; });
      const Rational alone = accepted(rows, [&](Token x) { return ladder.selected.of(x); });
      EXPECT_GE(with, at.optimum() - (1 - all_inside)) << inside << ' ' << instance.text();
      EXPECT_GE(with, alone) << inside << ' ' << instance.text();
      above += with > alone;
    });
  }
  EXPECT_GT(above, 0) << "the flow never gained: it is not exercised";
}

// V = 5,000, two proposals: the law of the plan is a law, and trials agree with the closed form of acceptance within
// five standard deviations (6e-7 false alarms; none at this seed).
TEST(ReducedPlans, RunAtALargeVocabulary) {
  constexpr int vocabulary = 5000, trials = 100'000;
  const std::vector<std::vector<double>> proposals{planned::zipf(vocabulary, 1.1, 1),
                                                   planned::zipf(vocabulary, 1.3, 4999)};
  const RatioTable table(planned::zipf(vocabulary, 1.5, 1), proposals);
  const auto expect_trials = [&](const AnyVerifier& scheme, const auto& law_of) {
    double mass = 0, share = 0;
    for (Token x = 0; x < vocabulary; ++x) {
      mass += law_of(x);
      share += std::min<double>(law_of(x), table.target(x));
    }
    EXPECT_NEAR(mass, 1, 2 * vocabulary * 0x1p-52);
    EXPECT_NEAR(planned::flagged_share(scheme, "independent", table, 2, trials, 3), share,
                5 * std::sqrt(share * (1 - share) / trials));
  };
  const AlphabetPlan alphabet(table, 2, 2, 40);
  const VerifierOf<TruncatedAlphabet> truncated(Kind::verifier);
  expect_trials(truncated, [&](Token x) { return alphabet.law[static_cast<std::size_t>(x)]; });
  const auto ladder = LadderIndependent{}.prepare(table, 2);
  const VerifierOf<LadderIndependent> groups(Kind::verifier);
  expect_trials(groups, [&](Token x) { return ladder.selected.of(x); });
  const auto bracket = Tournament{}.prepare(table, 2);
  const VerifierOf<Tournament> tournament(Kind::verifier);
  expect_trials(tournament, [&](Token x) { return bracket.selected.of(x); });
}

TEST(Tournament, IsLosslessAndAtMostOptimal) {
  expect_lossless(Tournament{}, "independent", false, 240);
  expect_lossless(Tournament{.inside = 1}, "independent", false, 12);  // fractions grow with every round
}

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
  for (int n = 0; n < 40; ++n) {
    const Instance instance = generate_instance(2026, n, 3, true);
    const Rows<Rational> rows = instance.rows();
    Rational fewer = 0;
    for (int drafts = 1; drafts <= instance.drafts; ++drafts) {
      const auto plan = Tournament{.inside = 1}.prepare(rows, drafts);
      const Rational more = accepted(rows, [&](Token x) { return plan.selected.of(x); });
      EXPECT_GE(more, fewer) << drafts << ' ' << instance.text();
      fewer = more;
    }
  }
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
