// Every file of optimum/laws against all cuts of its draft law: the method gives the optimum, or bounds that contain
// it.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/optimum/independent_bounds.hpp>
#include <draftproof/optimum/law_optimum.hpp>
#include <draftproof/properties/simulation/law_optimum.hpp>
#include <draftproof/tests/support/random_laws.hpp>

namespace draftproof {
namespace {

/// All tuples and all cuts of the table's laws. Rows of small fractions are other laws, and the residual of a row
/// without its token of 0.999999999 magnifies the difference.
double by_enumeration(const AnyDrafter& drafter, const RatioTable& table, int drafts) {
  const auto sets =
      set_law<double>([&](Explorer<double>& random, Token* out) { return drafter.draw(table, drafts, random, out); });
  std::vector<double> target;
  for (Token x = 0; x < table.vocabulary(); ++x) target.push_back(table.target(x));
  return cut_optimum<double>(target, sets);
}

TEST(LawOptimum, EveryMethodAgreesWithAllCuts) {
  int methods = 0;
  for (const auto& drafter : registry().drafters()) {
    const auto find = OptimumMethods::instance().of(drafter->info().name);
    if (!find) continue;
    ++methods;
    SmallLawsSource source(31);
    for (int compared = 0; compared < 1000;) {
      const SmallLaws laws = source.next(6, 4, drafter->info().several_proposals);
      const RatioTable table = laws.table();
      if (!drafter->defined(table.vocabulary(), laws.drafts, laws.drafts)) continue;
      ++compared;
      const auto bounds = find(table, laws.drafts);
      ASSERT_TRUE(bounds) << drafter->info().name;
      const double wanted = by_enumeration(*drafter, table, laws.drafts);
      // The clocks' 1e-14, and a few roundings for each of at most 360 tuples.
      ASSERT_LE(bounds->lower, wanted + 1e-13) << drafter->info().name << " K = " << laws.drafts;
      ASSERT_GE(bounds->upper, wanted - 1e-13) << drafter->info().name << " K = " << laws.drafts;
      // 1e-8 is where the search for different proposals stops.
      ASSERT_LE(bounds->upper - bounds->lower, drafter->info().several_proposals ? 1.1e-8 : 0)
          << drafter->info().name;
      const auto reported = optimum_of(*drafter, table, laws.drafts);
      ASSERT_TRUE(reported);
      ASSERT_EQ(*reported, bounds->upper);
    }
  }
  EXPECT_GE(methods, 6);
}

TEST(LawOptimum, IsKnownForEveryDraftLawAtLargeVocabularies) {
  const int vocabulary = 3000;
  SmallLawsSource source(32);
  const auto row = [&] {
    std::vector<double> weights;
    double sum = 0;
    for (int x = 0; x < vocabulary; ++x) sum += weights.emplace_back(std::exp(source.below(1000) / 100.0));
    for (double& weight : weights) weight /= sum;
    return weights;
  };
  const auto p = row();
  const std::vector<std::vector<double>> q{row(), row(), row(), row()};
  const RatioTable several(p, q), one(p, q.front());
  for (const auto& drafter : registry().drafters())
    for (const int drafts : {1, 2, 4}) {
      const RatioTable& table = drafter->info().several_proposals ? several : one;
      if (!drafter->defined(vocabulary, drafts, table.proposals())) continue;
      EXPECT_TRUE(optimum_of(*drafter, table, drafts)) << drafter->info().name << " K = " << drafts;
    }
}

TEST(IndependentBounds, MeetWhereSingleTokensAreHeavy) {
  SmallLawsSource source(34);
  for (int i = 0; i < 300; ++i) {
    const SmallLaws laws = source.next(40, 6, true);
    const auto bounds = independent_bounds(laws.table(), laws.drafts);
    ASSERT_LE(bounds.lower, bounds.upper);
    ASSERT_LE(bounds.upper - bounds.lower, 1.1e-8) << i;
  }
}

TEST(IndependentBounds, OfEqualProposalsAreTheRatioScan) {
  SmallLawsSource source(33);
  for (int i = 0; i < 300; ++i) {
    SmallLaws laws = source.next(12, 6, false);
    const double scan = iid_optimum(laws.table(), laws.drafts).acceptance;
    laws.proposals.assign(static_cast<std::size_t>(laws.drafts), laws.proposals.front());
    const auto bounds = independent_bounds(laws.table(), laws.drafts);
    ASSERT_NEAR(bounds.lower, scan, 1e-13);
    ASSERT_NEAR(bounds.upper, scan, 1e-13);
  }
}

}  // namespace
}  // namespace draftproof
