// Tests of certificates of output distributions as rollouts.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/properties/proof/rollout_certificate.hpp>

namespace draftproof {
namespace {

using Row = std::vector<Rational>;

RolloutCertificate<Rational> certificate(const Row& output, const Row& target) {
  return rollout_certificate<Rational>(output, target);
}

TEST(RolloutCertificate, HasBiasDivergenceAndLargestRatio) {
  const Row output{Rational(3, 4), Rational(1, 4)}, target{Rational(1, 2), Rational(1, 2)};
  const auto made = certificate(output, target);
  EXPECT_FALSE(made.refused());
  EXPECT_EQ(made.total_variation, total_variation(output, target));
  EXPECT_EQ(made.ratio, 2);
  EXPECT_NEAR(made.divergence, 0.75 * std::log(1.5) + 0.25 * std::log(0.5), 1e-15);
}

TEST(RolloutCertificate, OfTheTargetItselfIsTrivial) {
  const Row target{Rational(2, 3), 0, Rational(1, 3)};
  const auto made = certificate(target, target);
  EXPECT_EQ(made.total_variation, 0);
  EXPECT_EQ(made.ratio, 1);
  EXPECT_EQ(made.divergence, 0);
  EXPECT_FALSE(made.refused()) << "a token without probability needs no emission";
}

TEST(RolloutCertificate, IsRefusedWhereATokenIsNeverEmitted) {
  const auto made = certificate({1, 0, 0}, {Rational(1, 2), 0, Rational(1, 2)});
  EXPECT_TRUE(made.refused());
  EXPECT_EQ(made.never_emitted, 2);
  EXPECT_NEAR(made.divergence, std::log(2), 1e-15);
}

TEST(RolloutCertificate, LeavesOutRareTokensIfAsked) {
  const std::vector<double> output{0, 0.25, 0.75}, target{0.001, 0.124, 0.875};
  EXPECT_EQ(rollout_certificate<double>(output, target).never_emitted, 0);
  const auto made = rollout_certificate<double>(output, target, 0.001);
  EXPECT_FALSE(made.refused());
  EXPECT_EQ(made.ratio, 0.875 / 0.75);
}

TEST(RolloutCertificate, HasAnInfiniteDivergenceOutsideTheSupport) {
  const auto made = certificate({Rational(1, 2), Rational(1, 2)}, {1, 0});
  EXPECT_TRUE(std::isinf(made.divergence));
  EXPECT_EQ(made.ratio, 2) << "a token without probability has weight 0";
}

}  // namespace
}  // namespace draftproof
