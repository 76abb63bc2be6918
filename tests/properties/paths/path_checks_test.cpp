// Tests that each property of paths can fail: a verifier or a drafter that is wrong in the one way that the property
// detects is reported.
#include <set>

#include <gtest/gtest.h>

#include <draftproof/properties/paths/checks/state_distribution.hpp>
#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/tests/support/wrong_schemes.hpp>
#include <draftproof/verifiers/mutants/accept_test.hpp>
#include <draftproof/verifiers/mutants/paths/token_verification.hpp>
#include <draftproof/verifiers/mutants/residual.hpp>

namespace draftproof::path_checks_test {
namespace {

using namespace wrong;

const AnyTreeDrafter& iid_paths() { return *path_registry().drafter("iid_paths"); }

/// Returns a verifier of type V that is never destroyed, because a proof refers to its verifier.
template <class V>
const AnyPathVerifier& verifier_of() {
  static const PathVerifierOf<V> verifier(Kind::mutant);
  return verifier;
}
template <class V>
PathProof proof_of() {
  return prove(verifier_of<V>(), iid_paths(), {.instances = 96, .tier = std::nullopt});
}
template <class D>
PathProof proof_with_drafter(ExplorerLimits limits = {}) {
  static const TreeDrafterOf<D> drafter;
  return prove(*path_registry().verifier("sample_and_match_tree"), drafter, {.instances = 48, .limits = limits});
}

const Finding* finding(const PathProof& proof, std::string_view property) {
  for (const Finding& finding : proof.findings)
    if (finding.property == property) return &finding;
  return nullptr;
}

void expect_failed(const PathProof& proof, std::string_view property) {
  const Finding* found = finding(proof, property);
  ASSERT_TRUE(found) << property << " does not apply to " << proof.verifier->info().name;
  EXPECT_EQ(found->status, Status::failed) << property << " holds for " << proof.verifier->info().name;
  EXPECT_FALSE(found->evidence.empty());
  EXPECT_FALSE(found->instance.empty());
}

TEST(PathProperties, CompletedDistributionNamesThePrefixBeforeAWrongBonus) {
  const PathProof proof = proof_of<BonusFromDraft>();
  expect_failed(proof, "completed_distribution");
  const Finding& found = *finding(proof, "completed_distribution");
  EXPECT_EQ(PathInstance::parse(found.instance).shape.length, 1) << found.instance;
  EXPECT_EQ(found.evidence.rfind("after [", 0), 0u) << found.evidence;
  EXPECT_EQ(found.evidence.rfind("after []", 0), std::string::npos) << "its first token is right: " << found.evidence;
}

TEST(PathProperties, ANodeThatDoesNotExistOrAChangedLastTokenIsAViolation) {
  const PathProof proof = proof_of<AcceptsNodeOutside>();
  expect_failed(proof, "completed_distribution");
  EXPECT_EQ(finding(proof, "completed_distribution")->evidence.rfind("the program accepts node ", 0), 0u);
  expect_failed(proof_of<ChangesLastToken>(), "completed_distribution");
}

TEST(PathProperties, CompletedDistributionOnAnExampleByHand) {
  // The path has one token: p = (1 1)/2, q = (1 0), and the bonus is drawn from q. Token 0 is drafted and accepted with
  // probability 1/2; the bonus is then another 0, where the target may emit either token.
  const PathProof proof =
      prove_on(verifier_of<BonusFromDraft>(), iid_paths(), PathInstance::parse("L=1 K=1 [] p=(1 1)/2 q=(1 0)/1"), {});
  EXPECT_EQ(finding(proof, "completed_distribution")->evidence,
            "after [0] got (1 0), expected (1/2 1/2), TV 1/2; reached with probability 1/2");
}

TEST(PathProperties, ProcessDistributionIsOfLaterIterations) {
  EXPECT_EQ(finding(proof_of<ForgetsItself>(), "completed_distribution"), nullptr) << "one iteration of it is right";
  const PathProof proof = proof_of<CarriesForNothing>();
  EXPECT_TRUE(proof.exact());
  EXPECT_EQ(finding(proof, "process_distribution")->passed, 96);
}

TEST(PathProperties, StateDistributionNamesTheIterationThatIsWrong) {
  const PathProof proof = prove_on(verifier_of<CarriesTheNewest>(), iid_paths(),
                                   PathInstance::parse("L=4 K=1 [] p=(1 2)/3 q=(2 1)/3 [0] p=(1 1)/2 q=(1 3)/4"), {});
  expect_failed(proof, "state_distribution");
  const Finding& found = *finding(proof, "state_distribution");
  // The mutant keeps only the newest layer of the carry. A second layer needs paths of three tokens: one for each of
  // two iterations, and one that is not emitted yet.
  EXPECT_EQ(PathInstance::parse(found.instance).shape.length, 3) << found.instance;
  EXPECT_EQ(found.evidence.rfind("an iteration after [", 0), 0u) << found.evidence;
  EXPECT_EQ(found.evidence.rfind("an iteration after []", 0), std::string::npos) << found.evidence;
  EXPECT_NE(found.evidence.find("at ratio"), std::string::npos) << found.evidence;
}

TEST(PathProperties, StateDistributionOnAnExampleByHand) {
  // Both verifiers always accept [0 1], [1 0] and [1 1], and accept [0 0] with probability 1/4. The rejected mass of
  // [0 0], which is 1/3, emits [1] and leaves a layer with ratio 2. So within the iteration [1] is followed by 0 and 1
  // with masses 2/9 and 1/9, and for a mass of 1/3 the next iteration draws the token after [1]. The layer's target (2p
  // - q)+ gives this mass to token 1, so the masses are (2 4)/9 = 2/3 p in total. Without a carry no layer corrects
  // them, and only the tokens that the iteration itself emitted after [1] are compared.
  const auto small_model = PathInstance::parse("L=2 K=1 [] p=(1 2)/3 q=(2 1)/3");
  PathInstanceAnalysis greedy(*path_registry().verifier("greedy_block"), iid_paths(), small_model);
  EXPECT_EQ(checks::paths::StateDistribution::check(greedy).status, Status::passed);
  PathInstanceAnalysis forgetful(*path_registry().verifier("greedy_block_without_carry"), iid_paths(), small_model);
  const Answer answer = checks::paths::StateDistribution::check(forgetful);
  EXPECT_EQ(answer.status, Status::failed);
  EXPECT_EQ(answer.evidence,
            "an iteration after [] with nothing carried: after [1] got (2/3 1/3), expected (1/3 2/3), TV 1/3; "
            "reached with probability 1/3");
}

TEST(PathProperties, StateDistributionHoldsWhereNothingIsCarried) {
  const auto model = PathInstance::parse("L=2 K=1 [] p=(1 2)/3 q=(2 1)/3 [0] p=(1 1)/2 q=(3 1)/4");
  for (const std::string_view name : {"block", "token_path"}) {
    PathInstanceAnalysis at(*path_registry().verifier(name), iid_paths(), model);
    EXPECT_EQ(checks::paths::StateDistribution::check(at).status, Status::passed) << name;
  }
}

TEST(PathProperties, AreViolatedByVerifiersThatAreExactAllTheSame) {
  for (const auto& [proof, property] : {std::pair(proof_of<SoldForAny>(), "fixed_tree_distribution"),
                                        std::pair(proof_of<ClaimsInvariance>(), "drafter_invariance")}) {
    expect_failed(proof, property);
    EXPECT_EQ(finding(proof, "completed_distribution")->status, Status::passed) << property;
  }
  const PathProof block = proof_of<ClaimsBlock>();
  expect_failed(block, "one_path");
  EXPECT_EQ(PathInstance::parse(finding(block, "one_path")->instance).shape.length, 2)
      << "with L = 1 tokens and blocks are the same";
}

TEST(PathProperties, AreUndecidedOnACutEnumeration) {
  const auto model = PathInstance::parse("L=2 K=1 [] p=(1 2)/3 q=(2 1)/3 [0] p=(1 1)/2 q=(3 1)/4");
  const AnyPathVerifier& block = *path_registry().verifier("block");
  int cut = 0;
  for (const PathProperty& property : path_registry().properties()) {
    if (!property.explores || !property.applies(block, iid_paths())) continue;
    if (property.name == "disjoint_supports") continue;  // enumerates one branch of this model
    PathInstanceAnalysis whole(block, iid_paths(), model), part(block, iid_paths(), model, {.leaves = 3});
    EXPECT_EQ(property.check(whole).status, Status::passed) << property.name;
    const Status status = property.check(part).status;
    EXPECT_NE(status, Status::passed) << property.name;
    EXPECT_NE(status, Status::failed) << property.name;
    ++cut;
  }
  EXPECT_GE(cut, 5);
}

TEST(PathProperties, ABranchOfProbabilityZeroIsAViolation) {
  const PathProof proof =
      prove_on(verifier_of<ReachesNothing>(), iid_paths(), PathInstance::parse("L=1 K=1 [] p=(1 1) q=(1 1)"), {});
  ASSERT_TRUE(proof.violation());
  EXPECT_NE(proof.violation()->evidence.find("all zero"), std::string::npos) << proof.violation()->evidence;
}

/// A mutant whose branches cannot be enumerated, so only trials detect it.
struct HiddenResampling : mutants::paths::ResampleFromTargetPath {
  static constexpr Info info = [] {
    Info hidden = mutants::paths::ResampleFromTargetPath::info;
    hidden.name = "hidden_resampling";
    hidden.unsupported.explore = "on purpose";
    return hidden;
  }();
};

/// A property, and a proof of a verifier or a drafter that is wrong in the way that the property detects.
struct Shown {
  std::string_view property;
  PathProof (*proof)();
};

const Shown all_shown[]{
    {"boundary_uniforms", proof_of<LiftedToTrees<mutants::NonStrictCompare>>},
    {"completed_distribution", proof_of<AcceptAlways>},
    {"counters", proof_of<mutants::paths::AcceptedCountsRejectedOne>},
    {"declared_distribution", [] { return proof_with_drafter<DrawsFromTarget>(); }},
    {"declared_distribution",
     [] { return proof_with_drafter<ClaimsDistinct>(); }},  // declares distinct siblings, but repeats tokens
    // ClaimsFixed declares a fixed tree, but draws. Instances for fixed trees have many nodes, so it has up to a
    // million trees; the others below have up to a hundred thousand.
    {"declared_distribution", [] { return proof_with_drafter<ClaimsFixed>({.leaves = 500}); }},
    {"declared_distribution", [] { return proof_with_drafter<SuffixForEach>({.leaves = 500}); }},
    {"declared_distribution", [] { return proof_with_drafter<OneFirstToken>({.leaves = 500}); }},
    {"declared_distribution", [] { return proof_with_drafter<OmitsFixed>({.leaves = 500}); }},
    {"determinism", proof_of<mutants::paths::NoiseDrawnOncePerPrompt>},
    {"disjoint_supports", proof_of<AcceptAlways>},
    {"drafter_invariance", proof_of<ClaimsInvariance>},
    {"draw_count", proof_of<mutants::paths::NoiseDrawnOncePerPrompt>},
    {"equal_distributions", proof_of<ClaimsEqualDistributions>},
    {"fixed_tree_distribution", proof_of<SoldForAny>},
    {"near_equal_rows", proof_of<LiftedToTrees<mutants::ResidualWithoutMass>>},
    {"one_path", proof_of<ClaimsTokenPath>},
    {"process_distribution", proof_of<ForgetsItself>},
    {"relabelling", proof_of<LikesTokenZero>},
    {"sampled_prefix_distribution", proof_of<HiddenResampling>},
    {"state_distribution", proof_of<CarriesForNothing>},  // returns a carry that it never uses
    {"tau_bounds", proof_of<AcceptAlways>},
    {"zero_support", proof_of<BonusFromDraft>}};

TEST(PathProperties, EveryRegisteredOneIsViolatedByAVerifierThatIsWrongInItsWay) {
  std::set<std::string_view> shown, registered;
  for (const Shown& row : all_shown) {
    expect_failed(row.proof(), row.property);
    shown.insert(row.property);
  }
  for (const PathProperty& property : path_registry().properties()) registered.insert(property.name);
  EXPECT_EQ(registered, shown) << "a new property needs a verifier that fails it";
}

}  // namespace
}  // namespace draftproof::path_checks_test
