// Two i.i.d. drafts and more with a flow on few tokens and the ladder outside: lossless and optimal for any number of
// tokens inside, and usable at a large vocabulary.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/tests/support/golden.hpp>
#include <draftproof/tests/support/planned.hpp>
#include <draftproof/verifiers/truncated_lp.hpp>

namespace draftproof {
namespace {

using planned::expect_lossless;
using verifiers::TruncatedLp;

// Outside and inside are both optimal, and so are they together: the flow may do what the ladder does.
TEST(TruncatedLp, IsLosslessAndOptimalForAnyNumberOfTokensInside) {
  for (const int inside : {0, 1, 2, 3, 99}) expect_lossless(TruncatedLp{.inside = inside}, "iid", true);
}

TEST(TruncatedLp, TokensInsideHaveAtMostAThousandSets) {
  EXPECT_EQ(affordable_tokens(1, 40), 40);
  EXPECT_EQ(affordable_tokens(2, 40), 40);   // 40 + 780 sets
  EXPECT_EQ(affordable_tokens(4, 40), 12);   // 12 + 66 + 220 + 495 = 793; 13 tokens have 1092
  EXPECT_EQ(affordable_tokens(8, 40), 10);   // 2^10 - 1 but for those of 9 and 10 tokens: 1012
  EXPECT_EQ(affordable_tokens(32, 40), 10);  // 1023
  EXPECT_EQ(affordable_tokens(2, 3), 3);
}

// The reference optima of i.i.d. drafts on prepared laws, and lossless on buckets. The flow's rounding is below 2^-52
// a set and token, some 1e-14 here, and the ladder's law is as exact; 1e-12 is what the file's README asks for.
TEST(TruncatedLp, EveryReferenceCase) {
  const VerifierOf<TruncatedLp> scheme(Kind::verifier, TruncatedLp{.inside = 2});
  const AnyDrafter& drafter = *registry().drafter("iid");
  int compared = 0;
  for (const golden::Case& c : golden::cases()) {
    if (c.scheme != "ot_lp" || c.draft_law != "iid") continue;
    const auto expect_close = [&](const ExactLaw<double>& law, bool optimal) {
      if (optimal) {
        EXPECT_NEAR(law.flag, c.flag, 1e-12) << c.id;
      }
      for (std::size_t x = 0; x < c.p.size(); ++x) EXPECT_NEAR(law.output[x], c.output[x], 1e-12) << c.id;
    };
    const Rows<double> rows(c.p, c.q);
    const RatioTable table(c.p, c.q);
    const FreshRows<double> fresh(c.p, std::span<const double>(c.q[0]));
    expect_close(explore_law(drafter, *scheme.explore_on(rows, c.drafts), rows, c.drafts), true);
    expect_close(explore_law(drafter, *scheme.explore_on(table, c.drafts), table, c.drafts), true);
    expect_close(explore_law(drafter, *scheme.explore_on(fresh, c.drafts), fresh, c.drafts), false);
    ++compared;
  }
  EXPECT_GE(compared, 23);
}

// At V = 20,011: the law of the plan is a law and attains the optimum, 1e-12 being what the ladder promises, and trials
// agree with the closed form of acceptance within five standard deviations (2 per 10^6 false alarms, at a fixed seed).
TEST(TruncatedLp, AttainsTheOptimumAtALargeVocabulary) {
  const RatioTable table(planned::zipf(20'011, 1.2, 1), planned::zipf(20'011, 1.0, 1));
  for (const int drafts : {2, 4}) {
    const auto law = AlphabetPlan(table, drafts, 1, 10).law;
    double total = 0, accepted = 0;
    for (Token x = 0; x < table.vocabulary(); ++x) {
      const double selected = law[static_cast<std::size_t>(x)];
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

}  // namespace
}  // namespace draftproof
