// Tests that each property can fail: a verifier that is wrong in the one way that the property detects is reported.
#include <algorithm>
#include <memory>
#include <set>

#include <gtest/gtest.h>

#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/tests/support/audited.hpp>
#include <draftproof/tests/support/wrong_verifiers.hpp>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/mutants/accept_test.hpp>
#include <draftproof/verifiers/mutants/residual.hpp>
#include <draftproof/verifiers/sample_and_match.hpp>
#include <draftproof/verifiers/single_draft.hpp>

namespace draftproof::checks_test {
namespace {

using namespace wrong_verifiers;

template <class V>
Proof proof_of(V verifier = {}, std::string_view distribution = "iid") {
  static std::vector<std::unique_ptr<AnyVerifier>> kept;  // because a proof refers to its verifier
  kept.push_back(std::make_unique<VerifierOf<V>>(Kind::mutant, verifier));
  return prove(*kept.back(), *registry().drafter(distribution), {.instances = 120, .tier = std::nullopt});
}

/// Proves one property on one instance, because deciding by trials on many instances would take a minute.
Proof asked_on(std::string_view name, std::string_view distribution, std::string_view instance,
               std::string_view property) {
  return prove_on(*registry().verifier(name), *registry().drafter(distribution), Instance::parse(instance),
                  {.tier = std::nullopt, .property = std::string(property)});
}

const Finding* finding_of(const Proof& proof, std::string_view property) {
  const auto found = std::find_if(proof.findings.begin(), proof.findings.end(),
                                  [&](const Finding& finding) { return finding.property == property; });
  return found == proof.findings.end() ? nullptr : &*found;
}

void expect_failed(const Proof& proof, std::string_view property) {
  const Finding* finding = finding_of(proof, property);
  ASSERT_TRUE(finding) << property << " does not apply to " << proof.verifier->info().name;
  EXPECT_EQ(finding->status, Status::failed) << property << " holds for " << proof.verifier->info().name;
  EXPECT_FALSE(finding->evidence.empty());
  EXPECT_FALSE(finding->instance.empty());
}

const Property& asked_property(std::string_view name) {
  const auto& all = registry().properties();
  return *std::find_if(all.begin(), all.end(), [name](const Property& one) { return one.name == name; });
}

/// K-SEQ with factor 1, which is too small: some drafts get more than p, and the residual is clipped at zero.
Proof proof_of_a_factor_too_small() {
  KSeqTooSmall wrong;
  wrong.factor = 1;
  return proof_of(wrong);
}
Proof noise_reused(std::string_view property) {
  return asked_on("draft_noise_reused", "gumbel_iid", "p=(1 1 1) q=(8 1 3) K=1", property);
}
Proof one_key() { return asked_on("one_key_gumbel", "gumbel_iid", "p=(0 2 1) q=(2 1 0) K=1", "unbiased_over_keys"); }
/// The output is exact on average over keys and calls, but the noise of a key differs between calls.
Proof key_and_call() {
  static const VerifierOf<KeyAndCall> verifier(Kind::mutant, {});
  return prove_on(verifier, *registry().drafter("gumbel_iid"), Instance::parse("p=(1 1) q=(1 1) K=1"),
                  {.tier = std::nullopt, .property = "unbiased_over_keys"});
}

/// A property, and a proof of a verifier that is wrong in the way that the property detects.
struct Shown {
  std::string_view property;
  Proof (*proof)();
};

template <class V>
Proof shown() {
  return proof_of<V>();
}

const Shown all_shown[]{
    {"acceptance_bounds", shown<AcceptAlways>},  // accepts more than the optimum
    {"acceptance_bounds", shown<FlagAlways>},    // counts more drafts than it emits
    {"acceptance_bounds", shown<FlagNever>},     // counts fewer drafts than its claim
    {"boundary_uniforms", shown<mutants::NonStrictCompare>},
    {"coin_used_once", shown<mutants::CoinReusedAsThreshold>},
    {"declared_drafts", [] { return proof_of<verifiers::SingleDraft>({}, "draft_temperature_mismatch"); }},
    {"determinism", shown<CountsItsDecisions>},
    {"disjoint_supports", shown<AcceptAlways>},
    {"draft_conditional", shown<AcceptAlways>},  // emits a token that the target cannot emit
    {"draft_conditional", shown<FlagsTheWrongDraft>},
    {"drafter_invariance", shown<ClaimsInvariance>},  // emits a token that depends on its draft
    {"drafter_invariance", shown<LooksAtProposal>},
    {"draw_count", [] { return noise_reused("draw_count"); }},
    {"draw_count", shown<LooksAhead>},
    {"edge_rows", shown<mutants::NonStrictCompare>},
    {"equal_distributions", shown<ClaimsEqualDistributions>},
    {"equal_distributions", [] { return proof_of<RacesAlone>({}, "gumbel_iid"); }},
    {"exact_distribution", shown<AcceptAlways>},
    {"exact_distribution", proof_of_a_factor_too_small},
    {"forms_agree", shown<Audited<mutants::CoinReusedAsThreshold>>},
    {"more_drafts", shown<LosesWithMore>},
    {"near_equal_rows", shown<mutants::ResidualWithoutMass>},
    {"one_draft", shown<ClaimsOneDraft>},
    {"padding", shown<UniformOverVocabulary>},
    {"relabelling", shown<LikesTokenZero>},
    {"sampled_distribution", [] { return noise_reused("sampled_distribution"); }},
    {"splitting", shown<UniformOverVocabulary>},
    {"unbiased_over_keys", one_key},
    {"unbiased_over_keys", key_and_call},
    {"strict_grid", shown<mutants::NonStrictCompare>},
    {"within_tau", shown<WithinNothing>},
    {"zero_support", shown<LooksAtProposal>},
    {"zero_support", shown<FlagAlways>}};

TEST(Properties, EveryRegisteredOneIsViolatedByAVerifierThatIsWrongInItsWay) {
  std::set<std::string_view> shown, registered;
  for (const Shown& row : all_shown) {
    expect_failed(row.proof(), row.property);
    shown.insert(row.property);
  }
  for (const Property& property : registry().properties()) registered.insert(property.name);
  EXPECT_EQ(registered, shown) << "a new property needs a verifier that fails it";
}

TEST(Properties, DeclaredDraftsNameTheFirstWrongDraft) {
  const Proof given =
      prove_on(*registry().verifier("recursive_rejection"), *registry().drafter("greedy_draft_soft_q"),
               Instance::parse("p=(1 1)/2 q=(1 1)/2 K=2"), {});
  EXPECT_EQ(finding_of(given, "declared_drafts")->evidence,
            "draft 0 after [] has distribution (1 0), declared (1/2 1/2), TV 1/2");
}

TEST(Properties, AnotherDraftsIndexLeavesTheOutputRight) { EXPECT_TRUE(proof_of<FlagsTheWrongDraft>().exact()); }

TEST(Properties, OfVerifiersThatCannotBeExploredNothingIsExplored) {
  const Proof proof = proof_of<RacesAlone>({}, "gumbel_iid");
  for (const Finding& finding : proof.findings)
    EXPECT_FALSE(asked_property(finding.property).explores) << finding.property;
  const Finding* invariance = finding_of(proof, "drafter_invariance");
  ASSERT_TRUE(invariance);
  EXPECT_EQ(invariance->status, Status::passed) << invariance->evidence;
  EXPECT_EQ(invariance->passed, 120);
}

TEST(Properties, ABranchOfProbabilityZeroIsAViolation) {
  static const VerifierOf<ReachesNothing> verifier(Kind::mutant);  // findings refer to it
  const Proof proof = prove_on(verifier, *registry().drafter("iid"), Instance::parse("p=(1 1) q=(1 1) K=1"), {});
  ASSERT_TRUE(proof.violation());
  EXPECT_NE(proof.violation()->evidence.find("all zero"), std::string::npos) << proof.violation()->evidence;
}

TEST(Properties, AChangedTokenOfTheLastDrawIsAViolation) {
  expect_failed(proof_of<ChangesLastToken>(), "exact_distribution");
  expect_failed(proof_of<ChangesPlaceholder>(), "exact_distribution");
}

TEST(Properties, ATokenOrADraftThatDoesNotExistIsAViolation) {
  const auto evidence = [](const Proof& proof) { return finding_of(proof, "exact_distribution")->evidence; };
  EXPECT_NE(evidence(proof_of<EmitsOutside>()).find("which is not in the vocabulary"), std::string::npos);
  EXPECT_NE(evidence(proof_of<EmitsNothing>()).find("emits -1"), std::string::npos);
  expect_failed(proof_of<AcceptsOutside>(), "draft_conditional");
}

TEST(Properties, AProgramThatDrawsWithoutEndIsUndecided) {
  static const VerifierOf<DrawsWithoutEnd> verifier(Kind::mutant);
  const Proof proof = prove_on(verifier, *registry().drafter("iid"), Instance::parse("p=(1 1)/2 q=(1 1)/2 K=1"),
                               {.tier = std::nullopt});
  EXPECT_FALSE(proof.violation());
  EXPECT_EQ(finding_of(proof, "exact_distribution")->status, Status::undecided);
  EXPECT_EQ(finding_of(proof, "exact_distribution")->evidence, "a run of the program draws more than 1,024 numbers");
}

TEST(Properties, AnExceptionIsAViolation) {
  const Proof number = proof_of<ThrowsANumber>();
  EXPECT_EQ(finding_of(number, "exact_distribution")->evidence,
            "the verifier threw an object that is not a std::exception");
  const Proof proof = proof_of<Throws>();
  expect_failed(proof, "exact_distribution");
  EXPECT_EQ(finding_of(proof, "exact_distribution")->evidence, "trouble of its own");
}

TEST(Properties, ReadingWhatThePositionDoesNotHaveIsAViolation) {
  const auto evidence = [](const Proof& proof) {
    expect_failed(proof, "exact_distribution");
    return finding_of(proof, "exact_distribution")->evidence;
  };
  EXPECT_EQ(evidence(proof_of<ReadsTwoDrafts>()),
            "at.draft(1) of a position with 1 draft; a verifier that requires more has Info::fewest_drafts");
  const std::string beyond = evidence(proof_of<ReadsBeyondVocabulary>());
  EXPECT_EQ(beyond.rfind("at.target(", 0), 0u) << beyond;
  EXPECT_NE(beyond.find(", expected 0 to "), std::string::npos) << beyond;
}

TEST(Properties, AGridThatIsNotWalkedWholeIsUndecided) {
  const auto grid_of = [](std::uint64_t leaves) {
    return prove_on(*registry().verifier("single_draft"), *registry().drafter("iid"),
                    Instance::parse("p=(1 3)/4 q=(3 1)/4 K=1"),
                    {.limits = {.leaves = leaves}, .tier = std::nullopt, .property = "strict_grid"})
        .findings.front();
  };
  EXPECT_EQ(grid_of(2).status, Status::passed);
  EXPECT_EQ(grid_of(1).status, Status::undecided);
  EXPECT_EQ(grid_of(1).evidence, "the enumeration reached its limit");
}

}  // namespace
}  // namespace draftproof::checks_test
