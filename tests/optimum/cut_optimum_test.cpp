// Tests of the optimum of every draft sampling. Cuts over all sets, flows and a linear program agree; flows and cuts in
// fractions are equal. Further tests compare with reference values, and test the methods of optimum/distributions and
// the relaxation behind the bounds for different proposals. The relaxation is also tested with weights that the search
// would not choose, for which the least value is at the corner r = 1 (MixtureCut).
#include <algorithm>
#include <cmath>
#include <iostream>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <draftproof/optimum/fresh_scan.hpp>
#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/optimum/independent_bounds.hpp>
#include <draftproof/optimum/sampling_optimum.hpp>
#include <draftproof/optimum/set_distribution.hpp>
#include <draftproof/optimum/transport.hpp>
#include <draftproof/properties/prover/arbitrary.hpp>
#include <draftproof/properties/simulation/sampling_optimum.hpp>
#include <draftproof/tests/support/exact.hpp>
#include <draftproof/tests/support/golden.hpp>
#include <draftproof/tests/support/random_distributions.hpp>

namespace draftproof {
namespace {

template <class Scalar, class L>
std::map<TokenSet, Scalar> sets_of(const AnyDrafter& drafter, const L& distributions, int drafts,
                                   ExplorerLimits limits = {}) {
  return set_distribution<Scalar>(
      [&](Explorer<Scalar>& random, Token* out) { return drafter.draw(distributions, drafts, random, out); }, limits);
}

template <class Scalar>
Scalar optimum(std::string_view draft_sampling, const Rows<Scalar>& rows, const std::vector<Scalar>& p, int drafts) {
  return cut_optimum<Scalar>(p, sets_of<Scalar>(*registry().drafter(draft_sampling), rows, drafts));
}

// Reference optima come from a linear program that agrees with cuts to 1e-13. The optima computed here are sums of at
// most 2^6 masses of sets with a few roundings each: 64 * 8 * 2^-53 = 6e-14.
constexpr double reference_tolerance = 1e-12;

TEST(CutOptimum, SetsThatAreNotWalkedWholeAreNoDistribution) {
  const std::vector<Rational> p{{1, 2}, {1, 2}};
  const Rows<Rational> rows(p, p);
  const auto sets = [&](std::uint64_t leaves) {
    return sets_of<Rational>(*registry().drafter("iid"), rows, 2, {.leaves = leaves});
  };
  EXPECT_EQ(sets(4).size(), 3u);
  EXPECT_THROW(sets(3), EnumerationCut);
}

TEST(CutOptimum, EveryReferenceCaseOfEveryDistributionWeHave) {
  std::map<std::string, int> compared;
  double largest = 0;
  for (const golden::Case& c : golden::cases()) {
    const AnyDrafter* drafter = golden::drafter(c.draft_sampling);
    if (!drafter || std::isnan(c.optimum)) continue;
    const double found = optimum<double>(drafter->info().name, Rows<double>(c.p, c.q), c.p, c.drafts);
    ASSERT_NEAR(found, c.optimum, reference_tolerance) << c.id;
    largest = std::max(largest, std::abs(found - c.optimum));
    ++compared[c.draft_sampling];
    if (c.draft_sampling != "iid") continue;
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
  // Several cuts may have the least value, so the test compares the value of the file's cut and not its tokens.
  int compared = 0;
  for (const golden::Case& c : golden::cases()) {
    if (!c.has_cut) continue;
    const Rows<double> rows(c.p, c.q);
    TokenSet cut = 0;
    double value = 1;
    for (const std::size_t x : c.cut) {
      cut |= TokenSet{1} << x;
      value += c.p[x];
    }
    const auto sets = sets_of<double>(*golden::drafter(c.draft_sampling), rows, c.drafts);
    for (const auto& [set, mass] : sets)
      if ((set & ~cut) == 0) value -= mass;
    EXPECT_NEAR(value, c.optimum, reference_tolerance) << c.id;
    ++compared;
  }
  EXPECT_EQ(compared, 69);
}

RC_GTEST_PROP(CutOptimum, OrdersTheSchemes, (const Instance& instance)) {
  const auto rows = instance.rows();
  const auto p = normalised(instance.target), q = normalised(instance.proposals.front());
  const int drafts = instance.drafts;
  const Rational match = exact::distribution("sample_and_match", "iid", rows, drafts).draft_emitted;
  const Rational tree = exact::distribution("naive_tree", "iid", rows, drafts).draft_emitted;
  const Rational rejection = exact::distribution("recursive_rejection", "iid", rows, drafts).draft_emitted;
  const Rational k_seq = exact::distribution("k_seq", "iid", rows, drafts).draft_emitted;
  const Rational best = optimum<Rational>("iid", rows, p, drafts);
  RC_ASSERT(match <= tree);
  RC_ASSERT(tree <= rejection);
  RC_ASSERT(rejection <= best);
  RC_ASSERT(k_seq <= best);
  const Rational without =
      exact::distribution("recursive_rejection_wor", "without_replacement", rows, drafts).draft_accepted;
  const Rational best_without = optimum<Rational>("without_replacement", rows, p, drafts);
  RC_ASSERT(rejection <= without);
  RC_ASSERT(without <= best_without);
  RC_ASSERT(best <= best_without);
  // K-SEQ's factor is the root of an equation and in general no fraction, so it is computed in double, by a bisection
  // that rounds 40 times.
  RC_ASSERT(static_cast<double>(rejection) <=
            exact::k_seq(exact::as_doubles(p), exact::as_doubles(q), drafts) + 40 * 0x1p-53);
}

constexpr int instances = 1000;

TEST(Transport, EqualsTheLeastCutForEveryDraftSampling) {
  for (const auto& drafter : registry().drafters()) {
    if (drafter->info().shared_noise())
      continue;  // shared noise cannot be enumerated; the drafter of the marginal sampling is tested instead
    SmallDistributionsSource source(11);
    int compared = 0;
    while (compared < instances) {
      const SmallDistributions distributions = source.next(5, 3, drafter->info().several_proposals);
      if (!drafter->defined(static_cast<int>(distributions.target.size()), distributions.drafts,
                            distributions.drafts))
        continue;
      ++compared;
      const auto sets = distributions.sets(*drafter);
      const auto certificate = optimal_transport(distributions.target, sets);
      ASSERT_EQ(certificate.acceptance, cut_optimum<Rational>(distributions.target, sets)) << drafter->info().name;
      ASSERT_EQ(reject(distributions.target, sets, certificate), "") << drafter->info().name;

      const auto target = exact::as_doubles(distributions.target);
      std::map<TokenSet, double> rounded;
      for (const auto& [set, probability] : sets) rounded[set] = static_cast<double>(probability);
      const double wanted = static_cast<double>(certificate.acceptance);
      // Each capacity, of 5 tokens and of at most 25 sets, is rounded by at most 2^-52.
      ASSERT_NEAR(optimal_transport(target, rounded).acceptance, wanted, 32 * 0x1p-52) << drafter->info().name;
      if (compared % 4 == 0) {
        // Clp has a tolerance of 1e-11 per row.
        ASSERT_NEAR(linear_program_optimum(target, rounded), wanted, 32 * 1e-11) << drafter->info().name;
      }
    }
  }
}

TEST(Transport, PlansOfDoublesStayWithinTheDistributions) {
  SmallDistributionsSource source(12);
  for (int i = 0; i < 300; ++i) {
    const SmallDistributions distributions = source.next(6, 3, false);
    const auto target = exact::as_doubles(distributions.target);
    std::map<TokenSet, double> sets, left;
    for (const auto& [set, probability] : distributions.sets(*registry().drafter("iid")))
      sets[set] = left[set] = static_cast<double>(probability);
    auto room = target;
    for (const auto& [set, token, mass] : optimal_transport(target, sets).plan) {
      left.at(set) -= mass;  // exact, because masses are multiples of 2^-52
      room[static_cast<std::size_t>(token)] -= mass;
    }
    for (const auto& [set, mass] : left) ASSERT_GE(mass, 0);
    for (const double mass : room) ASSERT_GE(mass, 0);
  }
}

TEST(Transport, SaysWhenFractionsAreTooLong) {
  Rational tiny = 1;
  for (int i = 0; i < 1100; ++i) tiny /= 2;
  const std::vector<Rational> target{tiny, 1 - tiny};
  EXPECT_THROW(optimal_transport(target, {{TokenSet{1}, Rational(1)}}), std::range_error);
}

/// Returns the optimum by enumerating all tuples and all cuts of the table's rows. These rows, and not the fractions
/// that they were rounded from, are compared, because drafting without replacement may divide a rounding error by the
/// mass that is left without a token of probability 0.999999999.
double by_enumeration(const AnyDrafter& drafter, const RatioTable& table, int drafts) {
  std::vector<double> target;
  for (Token x = 0; x < table.vocabulary(); ++x) target.push_back(table.target(x));
  return cut_optimum<double>(target, sets_of<double>(drafter, table, drafts));
}

TEST(SamplingOptimum, EveryMethodAgreesWithAllCuts) {
  int methods = 0;
  for (const auto& drafter : registry().drafters()) {
    const auto find = OptimumMethods::instance().of(drafter->info().name);
    if (!find) continue;
    ++methods;
    SmallDistributionsSource source(31);
    for (int compared = 0; compared < 1000;) {
      const SmallDistributions distributions = source.next(6, 4, drafter->info().several_proposals);
      const RatioTable table = distributions.table();
      if (!drafter->defined(table.vocabulary(), distributions.drafts, distributions.drafts)) continue;
      ++compared;
      const auto bounds = find(table, distributions.drafts);
      ASSERT_TRUE(bounds) << drafter->info().name;
      const double wanted = by_enumeration(*drafter, table, distributions.drafts);
      // The integrals have an error of 1e-14; each of at most 360 tuples adds a few roundings.
      ASSERT_LE(bounds->lower, wanted + 1e-13) << drafter->info().name << " K = " << distributions.drafts;
      ASSERT_GE(bounds->upper, wanted - 1e-13) << drafter->info().name << " K = " << distributions.drafts;
      // For different proposals the search stops when the bounds are 1e-8 apart.
      ASSERT_LE(bounds->upper - bounds->lower, drafter->info().several_proposals ? 1.1e-8 : 0)
          << drafter->info().name;
      const auto reported = optimum_of(*drafter, table, distributions.drafts);
      ASSERT_TRUE(reported);
      ASSERT_EQ(*reported, bounds->upper);
    }
  }
  EXPECT_GE(methods, 6);
}

TEST(SamplingOptimum, IsKnownForEveryDraftSamplingAtLargeVocabularies) {
  const int vocabulary = 3000;
  SmallDistributionsSource source(32);
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
  SmallDistributionsSource source(34);
  for (int i = 0; i < 300; ++i) {
    const SmallDistributions distributions = source.next(40, 6, true);
    const auto bounds = independent_bounds(distributions.table(), distributions.drafts);
    ASSERT_LE(bounds.lower, bounds.upper);
    ASSERT_LE(bounds.upper - bounds.lower, 1.1e-8) << i;
  }
}

TEST(IndependentBounds, OfEqualProposalsAreTheRatioScan) {
  SmallDistributionsSource source(33);
  for (int i = 0; i < 300; ++i) {
    SmallDistributions distributions = source.next(12, 6, false);
    const double scan = iid_optimum(distributions.table(), distributions.drafts).acceptance;
    distributions.proposals.assign(static_cast<std::size_t>(distributions.drafts), distributions.proposals.front());
    const auto bounds = independent_bounds(distributions.table(), distributions.drafts);
    ASSERT_NEAR(bounds.lower, scan, 1e-13);
    ASSERT_NEAR(bounds.upper, scan, 1e-13);
  }
}

// With K = 2, the value of a set is p + 1 - min(1, r^2) for its target mass p and mixture mass r. The prefixes of the
// tokens have the values 11/16, 3/4 and 1. r reaches 1 after half of the second token: at this corner the value is
// 1/4 + 1/4.
TEST(MixtureCut, WorkedByHand) {
  const std::vector<MixedMass> rising{{0.25, 0.75}, {0.5, 0.5}, {0.25, 0.125}};
  const auto [value, tokens] = least_mixture_cut({0, 0}, rising, 2);
  EXPECT_EQ(value, 0.5);
  EXPECT_EQ(tokens, 2u);
}
TEST(MixtureCut, BeyondOneOnlyTheTargetGrows) {
  const std::vector<MixedMass> rising{{0.25, 0.5}, {0.5, 0.5}};
  EXPECT_EQ(least_mixture_cut({0.125, 1.5}, rising, 3).value, 0.125);  // the mixture mass r starts above 1
  EXPECT_EQ(least_mixture_cut({0, 0.5}, rising, 3).value, 0.25);       // r reaches 1 exactly at a prefix
  EXPECT_EQ(least_mixture_cut({0, 0.5}, rising, 3).tokens, 1u);
}

struct Weighted {
  SmallDistributions distributions;
  std::vector<double> weights;  ///< their product is 1
  std::vector<MixedMass> rising;
};

Weighted weighted(SmallDistributionsSource& source) {
  Weighted result{source.next(6, 4, true), {}, {}};
  const auto drafts = static_cast<std::size_t>(result.distributions.drafts);
  double product = 1;
  for (std::size_t k = 0; k + 1 < drafts; ++k) product *= result.weights.emplace_back(std::exp2(source.below(7) - 3));
  result.weights.push_back(1 / product);
  for (std::size_t x = 0; x < result.distributions.target.size(); ++x) {
    MixedMass mass{static_cast<double>(result.distributions.target[x]), 0};
    for (std::size_t k = 0; k < drafts; ++k)
      mass.mixture +=
          result.weights[k] * static_cast<double>(result.distributions.proposals[k][x]) / static_cast<double>(drafts);
    if (mass.mixture > 0) result.rising.push_back(mass);
  }
  std::sort(result.rising.begin(), result.rising.end(),
            [](const MixedMass& a, const MixedMass& b) { return a.target * b.mixture < b.target * a.mixture; });
  return result;
}

// Compares with the values of fractional sets, filled greedily up to each mass r of a fine grid, and up to r = 1: their
// least value equals the result up to rounding.
TEST(MixtureCut, IsTheLeastOverFractionalSets) {
  SmallDistributionsSource source(81);
  int in_the_middle = 0;
  for (int i = 0; i < 2000; ++i) {
    const Weighted instance = weighted(source);
    const auto drafts = static_cast<std::size_t>(instance.distributions.drafts);
    const auto found = least_mixture_cut({0, 0}, instance.rising, drafts);
    double total = 0, least = 1, prefixes = 1, p = 0, r = 0;
    for (const MixedMass& mass : instance.rising) {
      total += mass.mixture;
      p += mass.target;
      r += mass.mixture;
      prefixes = std::min(prefixes, p + 1 - std::min(1.0, std::pow(r, static_cast<double>(drafts))));
    }
    const auto at = [&](double s) {
      double value = 1 - std::min(1.0, std::pow(s, static_cast<double>(drafts)));
      for (const MixedMass& mass : instance.rising) {
        const double part = std::min(1.0, s / mass.mixture);
        value += part * mass.target;
        s -= part * mass.mixture;
        if (s <= 0) break;
      }
      return value;
    };
    for (int step = 0; step <= 500; ++step) least = std::min(least, at(total * step / 500));
    if (total >= 1) least = std::min(least, at(1));
    least = std::min(least, prefixes);
    // r is at most 2^9, so six additions have an error of at most 6 2^9 2^-53 = 3.4e-13, and the slope of r^K at 1 is K
    // <= 4.
    ASSERT_NEAR(found.value, least, 1.4e-12) << i;
    in_the_middle += found.value < prefixes - 1e-9;
  }
  EXPECT_GT(in_the_middle, 200) << "the corner at 1 does not decide";
}

TEST(MixtureCut, IsNeverAboveTheOptimum) {
  SmallDistributionsSource source(82);
  const AnyDrafter& drafter = *registry().drafter("independent");
  for (int i = 0; i < 500; ++i) {
    const Weighted instance = weighted(source);
    const auto found =
        least_mixture_cut({0, 0}, instance.rising, static_cast<std::size_t>(instance.distributions.drafts));
    const auto optimum = cut_optimum<Rational>(instance.distributions.target, instance.distributions.sets(drafter));
    ASSERT_LE(found.value, static_cast<double>(optimum) + 1e-14) << i;
  }
}

}  // namespace
}  // namespace draftproof
