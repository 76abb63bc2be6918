// Global resolution: its error is within the bound that its plan reports, on generated instances and on the reference
// cases.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/tests/support/golden.hpp>
#include <draftproof/tests/support/planned.hpp>
#include <draftproof/verifiers/global_resolution.hpp>

namespace draftproof {
namespace {

using planned::for_instances;
using verifiers::GlobalResolution;

/// The rounding of a marginal: fewer than 256 sets, each a few roundings of 2^-53 of its mass.
constexpr double rounding = 256 * 0x1p-53;

// Two tokens: Pr({0,1}) = 1/2, singles 1/4 each, wanted (2/5, 3/5): the pair takes 0 with 0.15 / 0.5.
TEST(SoftmaxFit, WorkedByHand) {
  const std::vector<SoftmaxChoice> choices{{{0}, 0.25}, {{1}, 0.25}, {{0, 1}, 0.5}};
  const std::vector<double> wanted{0.4, 0.6};
  const SoftmaxFit fit(choices, wanted, 1e-12);
  EXPECT_LE(fit.error(), 1e-12);
  const auto odds = fit.odds({0, 1});
  EXPECT_NEAR(odds[0] / (odds[0] + odds[1]), 0.3, 1e-11);
}

// On a face: token 0 belongs to its single only, so its level falls without limit; the error still becomes small.
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
      const auto& law = at.law();
      ASSERT_TRUE(law.complete);
      EXPECT_EQ(law.mass, 1);
      const auto tv = static_cast<double>(total_variation(law.output, normalised(instance.target)));
      EXPECT_LE(tv, plan.core->error + rounding) << instance.text();
      EXPECT_EQ(law.flag, law.membership) << instance.text();
      const auto optimum = static_cast<double>(at.optimum());
      EXPECT_NEAR(static_cast<double>(law.flag), optimum, 2 * plan.core->error + rounding) << instance.text();
      EXPECT_NEAR(plan.core->acceptance, optimum, rounding) << instance.text();
      cut += optimum < 1;
    });
    EXPECT_GT(cut, 30) << "too few instances refuse anything: the inner plan is not exercised";
  }
}

// The plan's own bound, with T of 0, 1, 2 or all tokens outside the cut. The published bounds are 15 tau for the L1
// error and 10 tau for the loss of acceptance; without truncation 1 tau each suffices, because the fits stop at tau.
TEST(GlobalResolution, KeepsToTheErrorItReportsWhenTruncated) {
  for (const double tolerance : {1e-3, 1e-4}) {
    int examined = 0, truncated = 0, worse_than_tolerance = 0;
    for (const std::size_t truncation :
         {std::size_t{0}, std::size_t{1}, std::size_t{2}, ResolutionPlan::everything}) {
      const GlobalResolution scheme{.tolerance = tolerance, .truncation = truncation};
      examined += for_instances(scheme, "iid", 180, [&](InstanceAnalysis& at, const Instance& instance) {
        const auto plan = scheme.prepare(instance.rows(), instance.drafts);
        const ResolutionPlan& core = *plan.core;
        const auto& law = at.law();
        ASSERT_TRUE(law.complete);
        ASSERT_EQ(law.mass, 1) << instance.text();
        // eps_T from the instance's fractions: the probability that all drafts are kept tokens.
        Rational inside = 0;
        const auto q = normalised(instance.proposals.front());
        for (std::size_t x = 0; x < q.size(); ++x)
          if (core.rank[x] >= 0 && core.kept[static_cast<std::size_t>(core.rank[x])]) inside += q[x];
        EXPECT_NEAR(core.truncated, 1 - static_cast<double>(acceptance::power(inside, instance.drafts)), rounding);
        EXPECT_LE(core.error, core.gradient / 2 + core.truncated + rounding);
        const auto tv = static_cast<double>(total_variation(law.output, normalised(instance.target)));
        EXPECT_LE(tv, core.error + rounding) << instance.text() << " T = " << truncation;
        EXPECT_GE(tv, core.error - core.gradient - rounding) << instance.text() << ": the bound is loose";
        EXPECT_EQ(law.flag, law.membership) << instance.text();
        const double loss = static_cast<double>(at.optimum()) - static_cast<double>(law.flag);
        EXPECT_LE(std::abs(loss), core.gradient + rounding) << instance.text() << " T = " << truncation;
        if (truncation == ResolutionPlan::everything) {
          EXPECT_EQ(core.truncated, 0);
          EXPECT_LE(2 * tv, tolerance + rounding);
          EXPECT_LE(loss, tolerance + rounding);
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

// The reference file's optimum and target, through a solver: 1e-7.
TEST(GlobalResolution, EveryReferenceCase) {
  static const VerifierOf<GlobalResolution> scheme(Kind::verifier, GlobalResolution{.tolerance = 1e-8});
  int compared = 0;
  for (const golden::Case& c : golden::cases()) {
    if (c.scheme != "ot_lp" || c.draft_law != "iid") continue;
    const Rows<double> rows(c.p, c.q);
    const auto law = explore_law(*registry().drafter("iid"), *scheme.explore_on(rows, c.drafts), rows, c.drafts);
    EXPECT_NEAR(law.flag, c.flag, 1e-7) << c.id;
    EXPECT_NEAR(law.membership, c.membership, 1e-7) << c.id;
    for (std::size_t x = 0; x < c.p.size(); ++x) EXPECT_NEAR(law.output[x], c.p[x], 1e-7) << c.id;
    ++compared;
  }
  EXPECT_EQ(compared, 69);
}

}  // namespace
}  // namespace draftproof
