// The relaxation behind the bounds for different proposals, with weights that the search would not choose: with them
// the corner at r = 1 decides, which the search's own weights hide.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/optimum/mixture_cut.hpp>
#include <draftproof/optimum/set_law.hpp>
#include <draftproof/tests/support/random_laws.hpp>

namespace draftproof {
namespace {

// r passes 1 with the second token: half of it fits. At the prefixes 9/16, 3/4 and 1, at the corner 1/4 + 1/4 of 1/2.
TEST(MixtureCut, WorkedByHand) {
  const std::vector<MixedMass> rising{{0.25, 0.75}, {0.5, 0.5}, {0.25, 0.125}};
  const auto [value, tokens] = least_mixture_cut({0, 0}, rising, 2);
  EXPECT_EQ(value, 0.5);
  EXPECT_EQ(tokens, 2u);
}
TEST(MixtureCut, BeyondOneOnlyTheTargetGrows) {
  const std::vector<MixedMass> rising{{0.25, 0.5}, {0.5, 0.5}};
  EXPECT_EQ(least_mixture_cut({0.125, 1.5}, rising, 3).value, 0.125);  // starts beyond
  EXPECT_EQ(least_mixture_cut({0, 0.5}, rising, 3).value, 0.25);       // reaches 1 exactly: a corner and a prefix
  EXPECT_EQ(least_mixture_cut({0, 0.5}, rising, 3).tokens, 1u);
}

struct Weighted {
  SmallLaws laws;
  std::vector<double> weights;  ///< product 1
  std::vector<MixedMass> rising;
};

Weighted weighted(SmallLawsSource& source) {
  Weighted result{source.next(6, 4, true), {}, {}};
  const auto drafts = static_cast<std::size_t>(result.laws.drafts);
  double product = 1;
  for (std::size_t k = 0; k + 1 < drafts; ++k) product *= result.weights.emplace_back(std::exp2(source.below(7) - 3));
  result.weights.push_back(1 / product);
  for (std::size_t x = 0; x < result.laws.target.size(); ++x) {
    MixedMass mass{static_cast<double>(result.laws.target[x]), 0};
    for (std::size_t k = 0; k < drafts; ++k)
      mass.mixture +=
          result.weights[k] * static_cast<double>(result.laws.proposals[k][x]) / static_cast<double>(drafts);
    if (mass.mixture > 0) result.rising.push_back(mass);
  }
  std::sort(result.rising.begin(), result.rising.end(),
            [](const MixedMass& a, const MixedMass& b) { return a.target * b.mixture < b.target * a.mixture; });
  return result;
}

// A fine grid of r-mass, filled greedily: never below the least, and near it.
TEST(MixtureCut, IsTheLeastOverFractionalSets) {
  SmallLawsSource source(81);
  int in_the_middle = 0;
  for (int i = 0; i < 2000; ++i) {
    const Weighted instance = weighted(source);
    const auto drafts = static_cast<std::size_t>(instance.laws.drafts);
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
    // r goes up to 2^9: six additions lose 6 2^9 2^-53 = 3.4e-13 of it, and r^K has slope K <= 4 at 1.
    ASSERT_NEAR(found.value, least, 1.4e-12) << i;
    in_the_middle += found.value < prefixes - 1e-9;
  }
  EXPECT_GT(in_the_middle, 200) << "the corner at 1 does not decide";
}

TEST(MixtureCut, IsNeverAboveTheOptimum) {
  SmallLawsSource source(82);
  const AnyDrafter& drafter = *registry().drafter("independent");
  for (int i = 0; i < 500; ++i) {
    const Weighted instance = weighted(source);
    const auto found = least_mixture_cut({0, 0}, instance.rising, static_cast<std::size_t>(instance.laws.drafts));
    const auto optimum = cut_optimum<Rational>(instance.laws.target, instance.laws.sets(drafter));
    ASSERT_LE(found.value, static_cast<double>(optimum) + 1e-14) << i;
  }
}

}  // namespace
}  // namespace draftproof
