// Each property can fail: a verifier that is wrong in the one way that the property detects is reported.
#include <algorithm>
#include <memory>

#include <gtest/gtest.h>

#include <draftproof/mutants/accept_test.hpp>
#include <draftproof/mutants/residual.hpp>
#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/tests/support/audited.hpp>
#include <draftproof/tests/support/wrong_verifiers.hpp>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/sample_and_match.hpp>
#include <draftproof/verifiers/single_draft.hpp>

namespace draftproof::checks_test {
namespace {

using namespace wrong_verifiers;

template <class V>
Proof proof_of(V verifier = {}, std::string_view law = "iid") {
  static std::vector<std::unique_ptr<AnyVerifier>> kept;  // a proof refers to its verifier
  kept.push_back(std::make_unique<VerifierOf<V>>(Kind::mutant, verifier));
  return prove(*kept.back(), *registry().drafter(law), {.instances = 120, .tier = std::nullopt});
}

/// One property of a registered mutant on one instance; deciding by trials on many instances takes a minute.
Proof asked_on(std::string_view name, std::string_view law, std::string_view instance, std::string_view property) {
  return prove_on(*registry().verifier(name), *registry().drafter(law), Instance::parse(instance),
                  {.tier = std::nullopt, .property = std::string(property)});
}

void expect_violated(const Proof& proof, std::string_view property) {
  for (const Finding& finding : proof.findings)
    if (finding.property == property) {
      EXPECT_EQ(finding.status, Status::violated) << property << " holds for " << proof.verifier->info().name;
      EXPECT_FALSE(finding.evidence.empty());
      EXPECT_TRUE(finding.instance);
      return;
    }
  FAIL() << property << " does not apply to " << proof.verifier->info().name;
}

const Property& asked_property(std::string_view name) {
  const auto& all = registry().properties();
  return *std::find_if(all.begin(), all.end(), [name](const Property& one) { return one.name == name; });
}

TEST(Properties, ExactLawSeesAWrongLaw) { expect_violated(proof_of<AcceptAlways>(), "exact_law"); }

TEST(Properties, ExactLawSeesAFactorOneStepTooSmall) {
  // rho = 1 gives the drafts too much of min(p, q): the residual is clipped at zero and the law is wrong.
  KSeqTooSmall wrong;
  wrong.factor = 1;
  expect_violated(proof_of(wrong), "exact_law");
}

TEST(Properties, AcceptanceBoundsSeeMoreThanTheOptimum) {
  expect_violated(proof_of<AcceptAlways>(), "acceptance_bounds");
}
TEST(Properties, AcceptanceBoundsSeeAFlagAboveMembership) {
  expect_violated(proof_of<FlagAlways>(), "acceptance_bounds");
}
TEST(Properties, AcceptanceBoundsHoldASchemeToItsClaim) {
  expect_violated(proof_of<FlagNever>(), "acceptance_bounds");
}
TEST(Properties, DeclaredDraftsNameTheFirstWrongDraft) {
  const Proof proof = proof_of<verifiers::SingleDraft>({}, "draft_temperature_mismatch");
  expect_violated(proof, "declared_drafts");
  const Proof given =
      prove_on(*registry().verifier("recursive_rejection"), *registry().drafter("greedy_draft_soft_q"),
               Instance::parse("p=(1 1)/2 q=(1 1)/2 K=2"), {});
  for (const Finding& finding : given.findings)
    if (finding.property == "declared_drafts") {
      EXPECT_EQ(finding.evidence, "draft 0 after [] has law (1 0), declared (1/2 1/2), TV 1/2");
    }
}
TEST(Properties, DraftConditionalSeesATokenThatTheTargetCannotEmit) {
  expect_violated(proof_of<AcceptAlways>(), "draft_conditional");
}
TEST(Properties, DraftConditionalSeesAnotherDraftsIndex) {
  const Proof proof = proof_of<FlagsTheWrongDraft>();
  expect_violated(proof, "draft_conditional");
  EXPECT_TRUE(proof.exact()) << "its output law is right";
}
TEST(Properties, DisjointSupportsSeeAnAcceptedDraft) {
  expect_violated(proof_of<AcceptAlways>(), "disjoint_supports");
}
TEST(Properties, EqualLawsSeeARefusal) { expect_violated(proof_of<ClaimsEqualLaws>(), "equal_laws"); }
TEST(Properties, EqualLawsSeeARefusalInTrials) {
  const Proof proof = proof_of<RacesAlone>({}, "gumbel_iid");
  expect_violated(proof, "equal_laws");
  for (const Finding& finding : proof.findings) {
    EXPECT_FALSE(asked_property(finding.property).explores)
        << finding.property << " was asked of a verifier that cannot be explored";
    if (finding.property == "drafter_invariance") {
      EXPECT_EQ(finding.status, Status::held) << finding.evidence;
      EXPECT_EQ(finding.held, 120);
    }
  }
}
TEST(Properties, DrafterInvarianceSeesATokenThatFollowsItsDraft) {
  expect_violated(proof_of<ClaimsInvariance>(), "drafter_invariance");
}
TEST(Properties, DrafterInvarianceSeesATokenThatFollowsTheProposal) {
  expect_violated(proof_of<LooksAtProposal>(), "drafter_invariance");
}
TEST(Properties, MoreDraftsSeesALoss) { expect_violated(proof_of<LosesWithMore>(), "more_drafts"); }
TEST(Properties, OneDraftSeesAnotherAcceptance) { expect_violated(proof_of<ClaimsOneDraft>(), "one_draft"); }
TEST(Properties, PaddingSeesTheSizeOfTheVocabulary) { expect_violated(proof_of<UniformOverVocabulary>(), "padding"); }
TEST(Properties, RelabellingSeesIds) { expect_violated(proof_of<LikesTokenZero>(), "relabelling"); }
TEST(Properties, SplittingSeesTheSizeOfTheVocabulary) {
  expect_violated(proof_of<UniformOverVocabulary>(), "splitting");
}

TEST(Properties, CoinUsedOnceSeesASecondUse) {
  expect_violated(proof_of<mutants::CoinReusedAsThreshold>(), "coin_used_once");
}
TEST(Properties, DeterminismSeesState) { expect_violated(proof_of<CountsItsDecisions>(), "determinism"); }
TEST(Properties, DrawLedgerSeesNoiseOfTheDrafter) {
  expect_violated(asked_on("draft_noise_reused", "gumbel_iid", "p=(1 1 1) q=(8 1 3) K=1", "draw_ledger"),
                  "draw_ledger");
}
TEST(Properties, DrawLedgerSeesAWordOffTheRecord) { expect_violated(proof_of<LooksAhead>(), "draw_ledger"); }
TEST(Properties, EdgeCoinsSeeACoinThatAcceptsOnItsThreshold) {
  expect_violated(proof_of<mutants::NonStrictCompare>(), "boundary_uniforms");
}
TEST(Properties, EdgeRowsSeeACoinThatAcceptsOnItsThreshold) {
  expect_violated(proof_of<mutants::NonStrictCompare>(), "edge_rows");
}
TEST(Properties, FormsAgreeSeesALawThatHangsOnTheOrderOfTokens) {
  expect_violated(proof_of<Audited<mutants::CoinReusedAsThreshold>>(), "forms_agree");
}
TEST(Properties, NearEqualRowsSeeADrawFromNothing) {
  expect_violated(proof_of<mutants::ResidualWithoutMass>(), "near_equal_rows");
}
TEST(Properties, SampledLawSeesASchemeThatCannotBeExplored) {
  expect_violated(asked_on("draft_noise_reused", "gumbel_iid", "p=(1 1 1) q=(8 1 3) K=1", "sampled_law"),
                  "sampled_law");
}
TEST(Properties, StrictGridSeesACell) { expect_violated(proof_of<mutants::NonStrictCompare>(), "strict_grid"); }
TEST(Properties, ZeroSupportSeesATokenOfTheProposal) { expect_violated(proof_of<LooksAtProposal>(), "zero_support"); }
TEST(Properties, ZeroSupportSeesAFlagForAnotherToken) { expect_violated(proof_of<FlagAlways>(), "zero_support"); }

TEST(Properties, WithinTauSeesALawFurtherAway) { expect_violated(proof_of<WithinNothing>(), "within_tau"); }

TEST(Properties, ABranchOfProbabilityZeroIsAViolation) {
  static const VerifierOf<ReachesNothing> verifier(Kind::mutant);  // findings may name it later
  const Proof proof = prove_on(verifier, *registry().drafter("iid"), Instance::parse("p=(1 1) q=(1 1) K=1"), {});
  ASSERT_TRUE(proof.violation());
  EXPECT_NE(proof.violation()->evidence.find("all zero"), std::string::npos) << proof.violation()->evidence;
}

TEST(Properties, AGridThatIsNotWalkedWholeIsUndecided) {
  const auto grid_of = [](std::uint64_t leaves) {
    return prove_on(*registry().verifier("single_draft"), *registry().drafter("iid"),
                    Instance::parse("p=(1 3)/4 q=(3 1)/4 K=1"),
                    {.limits = {.leaves = leaves}, .tier = std::nullopt, .property = "strict_grid"})
        .findings.front();
  };
  EXPECT_EQ(grid_of(2).status, Status::held);
  EXPECT_EQ(grid_of(1).status, Status::undecided);
  EXPECT_EQ(grid_of(1).evidence, "the tree was not walked whole");
}

TEST(Properties, EveryRegisteredPropertyIsShownToFailHere) {
  const std::vector<std::string_view> shown{
      "acceptance_bounds", "boundary_uniforms", "coin_used_once",     "declared_drafts", "determinism",
      "disjoint_supports", "draft_conditional", "drafter_invariance", "draw_ledger",     "edge_rows",
      "equal_laws",        "exact_law",         "forms_agree",        "more_drafts",     "near_equal_rows",
      "one_draft",         "padding",           "relabelling",        "sampled_law",     "splitting",
      "strict_grid",       "within_tau",        "zero_support"};
  std::vector<std::string_view> registered;
  for (const Property& property : registry().properties()) registered.push_back(property.name);
  EXPECT_EQ(registered, shown) << "a new property needs a verifier that violates it";
}

}  // namespace
}  // namespace draftproof::checks_test
