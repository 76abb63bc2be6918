// Tests of the exact distribution of drafter and verifier together: masses, the probabilities that a draft is accepted
// and that a draft is emitted, and sums without loss of digits.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <draftproof/properties/proof/instance_analysis.hpp>
#include <draftproof/properties/prover/arbitrary.hpp>

namespace draftproof {
namespace {

ExactDistribution<Rational> distribution(std::string_view verifier, const Instance& instance) {
  const auto rows = instance.rows();
  return explore_distribution(*registry().drafter("iid"),
                              *registry().verifier(verifier)->prove_on(rows, instance.drafts), rows, instance.drafts);
}

RC_GTEST_PROP(Explored, MassesAddUp, (const Instance& instance)) {
  const auto found = distribution("recursive_rejection", instance);
  RC_ASSERT(found.complete);
  RC_ASSERT(found.mass == 1);
  Rational sum = 0;
  for (const Rational& probability : found.output) sum += probability;
  RC_ASSERT(sum == found.mass);
}

TEST(Explored, CountsFlagAndMembershipApart) {
  // The scheme draws a token from p and accepts it if it was drafted. Each token is drafted with probability 3/4.
  const auto found = distribution("sample_and_match", Instance::parse("p=(1 1) q=(1 1) K=2"));
  EXPECT_EQ(found.draft_emitted, Rational(3, 4));
  EXPECT_EQ(found.draft_accepted, Rational(3, 4));
  // The token that the mutant draws from p after a rejection may be the rejected draft. It then counts as an emitted
  // draft, but not as an accepted draft.
  const auto bug = distribution("resample_from_target", Instance::parse("p=(1 1) q=(1 0) K=1"));
  EXPECT_EQ(bug.draft_accepted, Rational(1, 2));
  EXPECT_EQ(bug.draft_emitted, Rational(3, 4));
  EXPECT_EQ(bug.output, (std::vector<Rational>{{3, 4}, {1, 4}}));
}

TEST(Explored, ReportsATreeItDidNotFinish) {
  const auto rows = Instance::parse("p=(1 2 3) q=(3 2 1) K=3").rows();
  const auto& verifier = *registry().verifier("recursive_rejection");
  const auto found =
      explore_distribution(*registry().drafter("iid"), *verifier.prove_on(rows, 3), rows, 3, {.leaves = 4});
  EXPECT_FALSE(found.complete);
  EXPECT_EQ(found.leaves, 4u);
  EXPECT_LT(found.mass, 1);
}

TEST(Accumulator, KeepsWhatAPlainSumLoses) {
  Accumulator<double> sum;
  double plain = 0;
  for (const double term : {1.0, 1e100, 1.0, -1e100}) {
    sum.add(term);
    plain += term;
  }
  EXPECT_EQ(sum.value(), 2);
  EXPECT_NE(plain, 2) << "otherwise this test shows nothing";
}

}  // namespace
}  // namespace draftproof
