// The cut formula over all sets, for every draft law: reference values, a transport problem solved by hand, and the
// order in which the schemes lie below it.
#include <cmath>
#include <iostream>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/optimum/set_law.hpp>
#include <draftproof/properties/prover/arbitrary.hpp>
#include <draftproof/tests/support/exact.hpp>
#include <draftproof/tests/support/golden.hpp>

namespace draftproof {
namespace {

template <class Weight>
Weight optimum(std::string_view draft_law, const Rows<Weight>& rows, const std::vector<Weight>& p, int drafts) {
  const auto sets = set_law<Weight>([&](Explorer<Weight>& random, Token* out) {
    return registry().drafter(draft_law)->draw(rows, drafts, random, out);
  });
  return cut_optimum<Weight>(p, sets);
}

// Reference optima come from a linear program agreeing with cuts to 1e-13; ours are sums of at most 2^6 set masses of
// a few roundings each, 64 * 8 * 2^-53 = 6e-14.
constexpr double reference_tolerance = 1e-12;

TEST(CutOptimum, SetsThatAreNotWalkedWholeAreNoLaw) {
  const std::vector<Rational> p{{1, 2}, {1, 2}};
  const Rows<Rational> rows(p, p);
  const auto sets = [&](std::uint64_t leaves) {
    return set_law<Rational>(
        [&](Explorer<Rational>& random, Token* out) { return registry().drafter("iid")->draw(rows, 2, random, out); },
        {.leaves = leaves});
  };
  EXPECT_EQ(sets(4).size(), 3u);
  EXPECT_THROW(sets(3), EnumerationCut);
}

TEST(CutOptimum, EveryReferenceCaseOfEveryLawWeHave) {
  std::map<std::string, int> compared;
  double largest = 0;
  for (const golden::Case& c : golden::cases()) {
    const AnyDrafter* drafter = golden::drafter(c.draft_law);
    if (!drafter || std::isnan(c.optimum)) continue;
    const double found = optimum<double>(drafter->info().name, Rows<double>(c.p, c.q), c.p, c.drafts);
    ASSERT_NEAR(found, c.optimum, reference_tolerance) << c.id;
    largest = std::max(largest, std::abs(found - c.optimum));
    ++compared[c.draft_law];
    if (c.draft_law != "iid") continue;
    const double scan = iid_optimum(RatioTable(c.p, c.q), c.drafts).acceptance;
    ASSERT_NEAR(scan, c.optimum, reference_tolerance) << c.id;
    largest = std::max(largest, std::abs(scan - c.optimum));
  }
  std::cout << "largest deviation " << largest << '\n';
  const std::map<std::string, int> expected{{"greedy", 41},    {"iid", 621},        {"indep", 19},
                                            {"rheo_m1", 36},   {"spechub", 23},     {"topk_fixed", 23},
                                            {"wor_stop", 184}, {"wor_uniform", 123}};
  EXPECT_EQ(compared, expected);
}

TEST(CutOptimum, TheCutsOfTheReferenceAreSmallest) {
  // Any smallest cut is valid, so the test compares the value of the file's cut and not the set.
  std::map<std::string, int> compared;
  for (const golden::Case& c : golden::cases()) {
    if (!c.has_cut) continue;
    const Rows<double> rows(c.p, c.q);
    TokenSet cut = 0;
    double value = 1;
    for (const std::size_t x : c.cut) {
      cut |= TokenSet{1} << x;
      value += c.p[x];
    }
    const auto sets = set_law<double>([&](Explorer<double>& random, Token* out) {
      return golden::drafter(c.draft_law)->draw(rows, c.drafts, random, out);
    });
    for (const auto& [set, mass] : sets)
      if ((set & ~cut) == 0) value -= mass;
    EXPECT_NEAR(value, c.optimum, reference_tolerance) << c.id;
    ++compared[c.draft_law];
  }
  const std::map<std::string, int> expected{{"iid", 69}};
  EXPECT_EQ(compared, expected);
}

TEST(CutOptimum, OfAFixedSetIsItsTargetMass) {
  const std::vector<Rational> p{{1, 2}, {1, 3}, {1, 6}};
  EXPECT_EQ((cut_optimum<Rational>(p, {{TokenSet{0b101}, Rational(1)}})), Rational(2, 3));
}

TEST(CutOptimum, OfTwoOverlappingSetsByHand) {
  // {0, 1} with 3/4, {1, 2} with 1/4; p = (1/2, 0, 1/2): token 0 takes 1/2 of the first set, token 2 all of the
  // second.
  const std::vector<Rational> p{{1, 2}, 0, {1, 2}};
  const std::map<TokenSet, Rational> sets{{0b011, {3, 4}}, {0b110, {1, 4}}};
  EXPECT_EQ(cut_optimum<Rational>(p, sets), Rational(3, 4));
}

RC_GTEST_PROP(CutOptimum, OrdersTheSchemesOfIndependentDrafts, (const Instance& instance)) {
  const auto rows = instance.rows();
  const auto p = normalised(instance.target), q = normalised(instance.proposals.front());
  const int drafts = instance.drafts;
  const Rational match = exact::law("sample_and_match", "iid", rows, drafts).membership;
  const Rational tree = exact::law("naive_tree", "iid", rows, drafts).membership;
  const Rational rejection = exact::law("recursive_rejection", "iid", rows, drafts).membership;
  const Rational k_seq = exact::law("k_seq", "iid", rows, drafts).membership;
  const Rational best = optimum<Rational>("iid", rows, p, drafts);
  RC_ASSERT(match <= tree);
  RC_ASSERT(tree <= rejection);
  RC_ASSERT(rejection <= best);
  RC_ASSERT(k_seq <= best);
  // K-SEQ at its root, which fractions only approximate: in double, up to the 40 roundings of its bisection.
  RC_ASSERT(static_cast<double>(rejection) <=
            exact::k_seq(exact::as_doubles(p), exact::as_doubles(q), drafts) + 40 * 0x1p-53);
}

RC_GTEST_PROP(CutOptimum, WithoutReplacementIsNeverWorse, (const Instance& instance)) {
  const auto rows = instance.rows();
  const auto p = normalised(instance.target);
  const int drafts = instance.drafts;
  const Rational rejection = exact::law("recursive_rejection", "iid", rows, drafts).flag;
  const Rational without = exact::law("recursive_rejection_wor", "without_replacement", rows, drafts).flag;
  const Rational best = optimum<Rational>("without_replacement", rows, p, drafts);
  RC_ASSERT(rejection <= without);
  RC_ASSERT(without <= best);
  RC_ASSERT(optimum<Rational>("iid", rows, p, drafts) <= best);
}

RC_GTEST_PROP(CutOptimum, GrowsWithTheNumberOfIndependentDrafts, (Instance instance)) {
  const auto rows = instance.rows();
  const auto p = normalised(instance.target);
  Rational before = 0;
  for (int drafts = 1; drafts <= instance.drafts; ++drafts) {
    const Rational best = optimum<Rational>("iid", rows, p, drafts);
    RC_ASSERT(best >= before);
    before = best;
  }
}

}  // namespace
}  // namespace draftproof
