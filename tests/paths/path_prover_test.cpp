// What the prover says of every verifier of paths that was found: lossless schemes are exact on every tree law they
// take, mutants are refuted by an instance a person can check, and nothing depends on how many threads looked.
#include <algorithm>
#include <atomic>
#include <set>

#include <gtest/gtest.h>

#include <draftproof/properties/paths/path_prover.hpp>
#include <draftproof/properties/registry.hpp>

namespace draftproof {
namespace {

void for_each_pair(Kind kind, auto&& visit) {
  int visited = 0;
  for (const auto& verifier : path_registry().verifiers()) {
    if (verifier->kind() != kind || !verifier->info().cannot.explore.empty()) continue;
    for (const AnyTreeDrafter* drafter : path_registry().drafters_of(verifier->info())) {
      SCOPED_TRACE(std::string(verifier->info().name) + " on " + std::string(drafter->info().name));
      visit(*verifier, *drafter);
      ++visited;
    }
  }
  EXPECT_GT(visited, 0);
}

TEST(PathProver, EveryVerifierIsExactOnEveryTreeLawItTakes) {
  for_each_pair(Kind::verifier, [](const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter) {
    const PathProof proof = prove(verifier, drafter, {});
    EXPECT_EQ(proof.instances, PathLevel::instances);
    EXPECT_GE(proof.instances, 200);
    EXPECT_TRUE(proof.kept());
    EXPECT_EQ(proof.exact(), verifier.info().promise == Promise::lossless);
    for (const PathFinding& finding : proof.findings)
      EXPECT_TRUE(finding.status == Status::held || finding.status == Status::skipped)
          << finding.property << " " << to_text(finding.status) << ": " << finding.evidence << " " << finding.replay;
  });
}

TEST(PathProver, EveryMutantIsRefutedByASmallInstance) {
  for_each_pair(Kind::mutant, [](const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter) {
    const PathProof proof = prove(verifier, drafter, {});
    const PathFinding* violation = proof.violation();
    ASSERT_TRUE(violation);
    if (proof.exact()) {
      // No law of one iteration shows it: what scripted words, ledgers and counters reveal.
      const auto& all = path_registry().properties();
      const auto property =
          std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == violation->property; });
      EXPECT_EQ(property->tier, Tier::edge) << violation->property;
    } else {
      EXPECT_TRUE(violation->property == "completed_law" || violation->property == "process_law");
      EXPECT_NE(violation->evidence.find("after ["), std::string::npos) << violation->evidence;
    }
    ASSERT_TRUE(violation->instance);
    EXPECT_LE(violation->instance->vocabulary(), 3) << violation->instance->text();
    EXPECT_LE(violation->instance->rows.size(), 5u) << violation->instance->text();
    EXPECT_NE(violation->replay.find(violation->instance->text()), std::string::npos) << violation->replay;
    // What the replay line shows again, from its text.
    const PathProof again = prove_on(verifier, drafter, PathInstance::parse(violation->instance->text()), {});
    ASSERT_TRUE(again.violation());
    EXPECT_EQ(again.violation()->evidence, violation->evidence);
    EXPECT_EQ(*again.violation()->instance, *violation->instance) << "a shrunk instance shrinks no further";
  });
}

TEST(PathProver, ProofDoesNotDependOnTheNumberOfThreads) {
  for (const std::string_view name : {"block", "k_seq_walk", "wor_verified_as_iid_walk"}) {
    const AnyPathVerifier& verifier = *path_registry().verifier(name);
    const AnyTreeDrafter& drafter = *path_registry().drafter("iid_paths");
    const auto run = [&](int threads) { return prove(verifier, drafter, {.instances = 60, .threads = threads}); };
    const PathProof one = run(1);
    for (const int threads : {2, 7}) {
      const PathProof many = run(threads);
      EXPECT_EQ(many.instances, one.instances);
      EXPECT_EQ(many.leaves, one.leaves);
      ASSERT_EQ(many.findings.size(), one.findings.size());
      for (std::size_t i = 0; i < one.findings.size(); ++i) {
        EXPECT_EQ(many.findings[i].property, one.findings[i].property);
        EXPECT_EQ(many.findings[i].status, one.findings[i].status);
        EXPECT_EQ(many.findings[i].held, one.findings[i].held);
        EXPECT_EQ(many.findings[i].evidence, one.findings[i].evidence);
        EXPECT_EQ(many.findings[i].instance, one.findings[i].instance);
      }
    }
  }
}

TEST(PathProver, DoesNotClaimWhatItCouldNotWalk) {
  const PathProof proof = prove(*path_registry().verifier("recursive_rejection_walk"),
                                *path_registry().drafter("iid_paths"), {.instances = 30, .limits = {.leaves = 2}});
  EXPECT_FALSE(proof.exact());
  int undecided = 0;
  for (const PathFinding& finding : proof.findings) {
    EXPECT_NE(finding.status, Status::violated) << finding.property << ": " << finding.evidence;
    undecided += finding.property == "completed_law" && finding.status == Status::undecided;
  }
  EXPECT_EQ(undecided, 1);
}

TEST(PathProver, StopsWhenAsked) {
  const std::atomic<bool> stop{true};
  const PathProof proof =
      prove(*path_registry().verifier("block"), *path_registry().drafter("iid_paths"), {.stop = &stop});
  EXPECT_EQ(proof.instances, 0);
  EXPECT_FALSE(proof.exact());
}

TEST(PathProver, EveryPropertyIsMetByAFewInstances) {
  const PathProof proof = prove(*path_registry().verifier("recursive_rejection_walk"),
                                *path_registry().drafter("iid_paths"), {.instances = 96});
  EXPECT_GE(proof.findings.size(), 7u);
  for (const PathFinding& finding : proof.findings) EXPECT_GE(finding.held, 3) << finding.property;
}

TEST(PathRegistry, EveryLawThatAVerifierNamesExists) {
  for (const auto& verifier : path_registry().verifiers()) {
    const DraftLaws& laws = verifier->info().drafts;
    const auto matching = path_registry().drafters_of(verifier->info());
    EXPECT_EQ(matching.size(), laws.any() ? path_registry().drafters().size() : laws.count) << verifier->info().name;
  }
}

TEST(PathRegistry, ANameIsOfOneLevel) {
  std::set<std::string_view> names;
  for (const auto& verifier : registry().verifiers()) names.insert(verifier->info().name);
  for (const auto& verifier : path_registry().verifiers())
    EXPECT_TRUE(names.insert(verifier->info().name).second) << verifier->info().name;
  for (const auto& drafter : registry().drafters()) names.insert(drafter->info().name);
  for (const auto& drafter : path_registry().drafters())
    EXPECT_TRUE(names.insert(drafter->info().name).second) << drafter->info().name;
}

TEST(PathRegistry, PlansForSampledSiblingsTakeNoMergedPaths) {
  // How many distinct siblings merged paths have depends on which: p = (1 1)/2, q = (2 1)/3, K = 2 refutes such a
  // plan.
  const AnyPathVerifier* plan = path_registry().verifier("optimal_transport_wor_walk");
  ASSERT_TRUE(plan);
  EXPECT_FALSE(plan->info().drafts.includes("iid_paths"));
  EXPECT_TRUE(path_registry().verifier("recursive_rejection_wor_walk")->info().drafts.includes("iid_paths"));
  const PathProof proof = prove_on(*plan, *path_registry().drafter("iid_paths"),
                                   PathInstance::parse("L=1 K=2 [] p=(1 1)/2 q=(2 1)/3"), {});
  ASSERT_TRUE(proof.violation());
  EXPECT_EQ(proof.violation()->evidence,
            "after [] got (5/9 4/9), wanted (1/2 1/2), TV 1/18; reached with probability 1");
}

}  // namespace
}  // namespace draftproof
