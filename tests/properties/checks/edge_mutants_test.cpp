// Tests mutants that are exact in fractions, which only scripted random bits reveal, and mutants that reuse random
// bits, which draw_count and the distribution reveal. Most tests use the smallest known instance.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/properties/scripted/scripted_decision.hpp>
#include <draftproof/verifiers/mutants/pick.hpp>

namespace draftproof {
namespace {

Proof proof_on(std::string_view name, std::string_view distribution, std::string_view instance) {
  return prove_on(*registry().verifier(name), *registry().drafter(distribution), Instance::parse(instance),
                  {.tier = std::nullopt});
}

template <class P>
std::string evidence_of(const P& proof, std::string_view property) {
  for (const auto& finding : proof.findings)
    if (finding.property == property)
      return finding.status == Status::failed ? finding.evidence : std::string(to_text(finding.status));
  return "not asked";
}

TEST(EdgeMutants, AreExactInFractionsAndCaughtByTheEdgeTierAlone) {
  for (const std::string_view name : {"non_strict_compare", "coin_can_be_one", "fallback_to_last_id",
                                      "zero_exponential_wins", "zero_residual_becomes_uniform"}) {
    const Proof proof =
        prove(*registry().verifier(name), *registry().drafter("iid"), {.instances = 120, .tier = std::nullopt});
    EXPECT_TRUE(proof.exact()) << name;
    ASSERT_TRUE(proof.distance) << name;
    EXPECT_EQ(proof.distance->largest, 0) << name;
    bool caught = false;
    for (const Finding& finding : proof.findings) {
      if (finding.status != Status::failed) continue;
      caught = true;
      const auto& properties = registry().properties();
      const auto property = std::find_if(properties.begin(), properties.end(),
                                         [&](const Property& one) { return one.name == finding.property; });
      EXPECT_EQ(property->tier, Tier::edge) << name << " " << finding.property;
      EXPECT_LE(Instance::parse(finding.instance).vocabulary(), 4) << name << " " << finding.instance;
    }
    EXPECT_TRUE(caught) << name;
  }
}

TEST(EdgeMutants, AreCaughtOnTheSmallestInstances) {
  EXPECT_EQ(evidence_of(proof_on("non_strict_compare", "iid", "p=(0 1) q=(1 1) K=1"), "boundary_uniforms"),
            "drafts (0), uniforms 0, last draw 0: emits 0, which has p = 0");
  EXPECT_EQ(evidence_of(proof_on("coin_can_be_one", "iid", "p=(1) q=(1) K=1"), "boundary_uniforms"),
            "drafts (0), uniforms 1 - 2^-53, last draw 0: draws from weights that are all zero");
  EXPECT_EQ(evidence_of(proof_on("zero_exponential_wins", "iid", "p=(1 0) q=(1 0) K=1"), "boundary_uniforms"),
            "drafts (0), uniforms 0, last draw 0: emits 1, which has p = 0");
  EXPECT_EQ(evidence_of(proof_on("zero_residual_becomes_uniform", "iid", "p=(0 1) q=(1 0) K=1"), "boundary_uniforms"),
            "drafts (0), uniforms 0, last draw 0: emits 0, which has p = 0");
}

TEST(EdgeMutants, StrictGridSeesOneCell) {
  // By hand: draft 0 with p = 6/16 and q = 8/16 is accepted if u < 3/4, for 12 of the 16 values of a 4-bit uniform u;
  // the mutant accepts if u <= 3/4, for 13 values.
  const std::string evidence =
      evidence_of(proof_on("non_strict_compare", "iid", "p=(0 1) q=(0 1) K=1"), "strict_grid");
  EXPECT_NE(evidence.find("(0): 4-bit uniforms give (13/16 3/16), the distribution is (3/4 1/4)"), std::string::npos)
      << evidence;
  EXPECT_EQ(evidence_of(proof_on("single_draft", "iid", "p=(0 1) q=(0 1) K=1"), "strict_grid"), "passed");
}

TEST(EdgeMutants, AReusedCoinHasTheDistributionByHand) {
  const Proof proof = proof_on("coin_reused_as_threshold", "iid", "p=(1 1 1) q=(0 0 1) K=1");
  EXPECT_EQ(evidence_of(proof, "exact_distribution"), "got (1/6 1/2 1/3), expected (1/3 1/3 1/3), TV 1/6");
  EXPECT_NE(evidence_of(proof, "coin_used_once").find("2 (draft 0), then 0, then 1"), std::string::npos);
  // Over all 12-bit uniforms, the frequencies of the program differ from the enumerated distribution by at most one
  // uniform for each of the two thresholds, because the thresholds are multiples of 1/6 and not of 2^-12.
  const Rows<double> rows = double_distributions(Instance::parse("p=(1 1 1) q=(0 0 1) K=1"));
  const auto decider = registry().verifier("coin_reused_as_threshold")->scripted_on(rows, 1);
  int counts[3] = {};
  constexpr std::uint64_t cells = 1 << 12;
  for (std::uint64_t cell = 0; cell < cells; ++cell) {
    BoundaryWords words(cell << 52, 0);
    ++counts[run_scripted(*decider, Tuple{2}, words).verdict.token];
  }
  EXPECT_NEAR(counts[0], cells / 6.0, 1);
  EXPECT_NEAR(counts[1], cells / 2.0, 1);
  EXPECT_NEAR(counts[2], cells / 3.0, 1);
}

TEST(EdgeMutants, ReusedNoiseIsOnTheLedgerAndInTheDistribution) {
  const auto& verifier = *registry().verifier("draft_noise_reused");
  const auto& races = *registry().drafter("gumbel_iid");
  const Instance instance = Instance::parse("p=(1 1 1) q=(8 1 3) K=1");
  EXPECT_NE(evidence_of(prove_on(verifier, races, instance, {.tier = Tier::edge}), "draw_count").find("reads noise"),
            std::string::npos);
  // By Hoeffding's inequality, a frequency differs by more than d from its probability with probability at most 2
  // exp(-2 n d^2). With six comparisons at n = 2^18 and d = 0.0068, a correct program fails the test with probability
  // 12 exp(-24.2) < 4e-10.
  constexpr int n = 1 << 18;
  constexpr double d = 0.0068;
  InstanceAnalysis at(verifier, races, instance);
  const Trials trials = at.trials(instance, n);
  double share[3] = {};
  for (const Verdict& verdict : trials.verdicts) share[verdict.token] += 1.0 / n;
  const double by_hand[3] = {10 / 30.0, 11 / 30.0, 9 / 30.0};
  for (int x = 0; x < 3; ++x) EXPECT_NEAR(share[x], by_hand[x], d) << "token " << x;
  EXPECT_GT(std::abs(share[1] - 1 / 3.0), d) << "the bias shows";
  EXPECT_GT(std::abs(share[2] - 1 / 3.0), d);
  // If drafter and verifier read separate random bits, the output is exact.
  InstanceAnalysis right(*registry().verifier("single_draft"), *registry().drafter("iid"), instance);
  double frequency[3] = {};
  for (const Verdict& verdict : right.trials(instance, n).verdicts) frequency[verdict.token] += 1.0 / n;
  for (const double f : frequency) EXPECT_NEAR(f, 1 / 3.0, d);
}

TEST(EdgeMutants, OfPathsAreCaughtByLedgerAndCounter) {
  const auto proof_of_path = [](std::string_view name, std::string_view instance) {
    return prove_on(*path_registry().verifier(name), *path_registry().drafter("iid_paths"),
                    PathInstance::parse(instance), {.tier = std::nullopt});
  };
  const PathProof noise = proof_of_path("noise_drawn_once_per_prompt", "L=1 K=1 [] p=(1 1)/2 q=(1 1)/2");
  EXPECT_TRUE(noise.exact()) << "one iteration is right";
  EXPECT_NE(evidence_of(noise, "determinism").find("by 0 draws"), std::string::npos);
  EXPECT_NE(evidence_of(noise, "draw_count").find("by 0"), std::string::npos);
  const PathProof count = proof_of_path("accepted_counts_rejected_one", "L=1 K=1 [] p=(1 1)/2 q=(1 0)/1");
  EXPECT_TRUE(count.exact());
  EXPECT_NE(evidence_of(count, "counters").find("counts 1 accepted tokens and emits [] then 1"), std::string::npos);
}

TEST(EdgeMutants, NoiseDrawnOnceEndsEveryStepInTheSameToken) {
  const PathInstance instance = PathInstance::parse("L=1 K=1 [] p=(1 1)/2 q=(1 1)/2");
  const auto& verifier = *path_registry().verifier("noise_drawn_once_per_prompt");
  EXPECT_EQ(verifier.info().unsupported.explore, "");
  EXPECT_NE(verifier.info().unsupported.simulate, "") << "trials would depend on their order";
}

}  // namespace
}  // namespace draftproof
