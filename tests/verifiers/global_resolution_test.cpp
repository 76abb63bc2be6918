// Global resolution: within the error that its own plan reports, on generated instances and on the reference
// cases.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/tests/verifiers/golden.hpp>
#include <draftproof/tests/verifiers/planned.hpp>
#include <draftproof/verifiers/global_resolution.hpp>

namespace draftproof {
namespace {

using planned::for_instances;
using verifiers::GlobalResolution;

/// What rounding adds to a marginal: fewer than 256 sets, each a handful of roundings of 2^-53 of its mass.
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

// On a face: token 0 is wanted by its single alone, so its level falls without end; the error still gets
// small.
TEST(SoftmaxFit, ReachesFaces) {
  const std::vector<SoftmaxChoice> choices{{{0}, 0.25}, {{1}, 0.25}, {{0, 1}, 0.5}};
  const std::vector<double> wanted{0.25, 0.75};
  EXPECT_LE(SoftmaxFit(choices, wanted, 1e-9).error(), 1e-9);
}

TEST(GlobalResolution, KeepsToTheErrorItReports) {
  for (const double tolerance : {1e-2, 1e-4, 1e-8}) {
    const GlobalResolution scheme{.tolerance = tolerance};
    int cut = 0;
    for_instances(scheme, "iid", 100, [&](Examination& at, const Instance& instance) {
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
