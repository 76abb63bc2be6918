// Details of the lossy controls that reference values do not cover: the entropy threshold with and without the
// addend, the case in which no token passes, and the certain target of Cactus.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/tests/support/exact.hpp>
#include <draftproof/verifiers/lossy/cactus.hpp>
#include <draftproof/verifiers/lossy/typical_sample.hpp>

namespace draftproof {
namespace {

using Doubles = std::vector<double>;

TEST(LossyControls, ThresholdOfAFlatTargetIsItsProbability) {
  // H of a flat law is -ln(1/4 + added): the threshold is delta (1/4 + added).
  const Rows<double> flat(Doubles(4, 0.25), Doubles(4, 0.25));
  EXPECT_NEAR(verifiers::lossy::typical_threshold(flat, 1, 0.5), 0.125, 1e-15);
  EXPECT_NEAR(verifiers::lossy::typical_threshold(flat, 1, 0.5, 1e-5), 0.125005, 1e-15);
  EXPECT_EQ(verifiers::lossy::typical_threshold(flat, 0.1, 0.5), 0.1);
}

TEST(LossyControls, ThresholdOfACertainTargetIsDelta) {
  // H = -ln(1 + added) is negative by the addend; no term may be negative, or a fixed-point sum could not hold it.
  const Doubles sure{1, 0};
  for (const double added : {0.0, 1e-5}) {
    EXPECT_NEAR(verifiers::lossy::typical_threshold(Rows<double>(sure, sure), 2, 0.5, added), 0.5 * (1 + added),
                1e-15);
    EXPECT_NEAR(verifiers::lossy::typical_threshold(RatioTable(sure, sure), 2, 0.5, added), 0.5 * (1 + added), 1e-15);
  }
}

TEST(LossyControls, WhereNoTokenIsTypicalTheWholeTargetIsServed) {
  // With delta = 1 the addend lifts the threshold above every token of a flat target.
  const VerifierOf<verifiers::lossy::TypicalSample> strict(Kind::mutant, {.epsilon = 1, .delta = 1});
  const Rows<double> flat(Doubles(4, 0.25), Doubles{1, 0, 0, 0});
  const auto law = explore_law(*registry().drafter("iid"), *strict.explore_on(flat, 1), flat, 1);
  EXPECT_EQ(law.output, Doubles(4, 0.25));
  EXPECT_EQ(law.flag, 0.25) << "a draw that was drafted counts as accepted";
}

TEST(LossyControls, CactusLeavesCertaintyAlone) {
  const auto rows = Instance::parse("p=(1 0)/1 q=(1 3)/4 K=1").rows();
  const VerifierOf<verifiers::lossy::Cactus> cactus(Kind::mutant);
  const auto law = explore_law(*registry().drafter("iid"), *cactus.prove_on(rows, 1), rows, 1);
  EXPECT_EQ(law.output, (exact::Row{1, 0}));
  EXPECT_EQ(law.flag, Rational(1, 4));
}

}  // namespace
}  // namespace draftproof
