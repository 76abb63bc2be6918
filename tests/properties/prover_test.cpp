// What the prover says of everything that was found: lossless schemes are exact, mutants are refuted by an instance
// that fits on a line, and nothing depends on how many threads looked.
#include <atomic>

#include <gtest/gtest.h>

#include <draftproof/properties/prover.hpp>

namespace draftproof {
namespace {

const ProofOptions quick{.instances = 120};

void for_each_pair(Kind kind, auto&& visit) {
  int visited = 0;
  for (const auto& verifier : registry().verifiers()) {
    if (verifier->kind() != kind || !verifier->info().cannot.explore.empty()) continue;
    for (const AnyDrafter* drafter : registry().drafters_of(verifier->info())) {
      SCOPED_TRACE(std::string(verifier->info().name) + " on " + std::string(drafter->info().name));
      visit(*verifier, *drafter);
      ++visited;
    }
  }
  EXPECT_GT(visited, 0);
}

Tier tier_of(std::string_view property) {
  for (const Property& one : registry().properties())
    if (one.name == property) return one.tier;
  return Tier::proof;
}

TEST(Prover, EveryVerifierKeepsItsPromiseOnEveryLawItTakes) {
  for_each_pair(Kind::verifier, [](const AnyVerifier& verifier, const AnyDrafter& drafter) {
    const Proof proof = prove(verifier, drafter, quick);
    EXPECT_EQ(proof.instances, quick.instances);
    EXPECT_TRUE(proof.kept());
    EXPECT_EQ(proof.exact(), verifier.info().promise == Promise::lossless);
    for (const Finding& finding : proof.findings)
      EXPECT_TRUE(finding.status == Status::held || finding.status == Status::skipped)
          << finding.property << " " << to_text(finding.status) << ": " << finding.evidence << " "
          << (finding.instance ? finding.instance->text() : "");
  });
}

TEST(Prover, EveryMutantIsRefutedByASmallInstance) {
  for_each_pair(Kind::mutant, [](const AnyVerifier& verifier, const AnyDrafter& drafter) {
    const Proof proof = prove(verifier, drafter, {});
    const Finding* violation = proof.violation();
    ASSERT_TRUE(violation);
    EXPECT_FALSE(violation->evidence.empty());
    ASSERT_TRUE(violation->instance);
    ASSERT_TRUE(proof.distance) << "how far the law is from p must be visible";
    if (proof.exact()) {
      // No law shows it: what only scripted words reveal.
      EXPECT_EQ(tier_of(violation->property), Tier::edge) << violation->property;
      EXPECT_EQ(proof.distance->largest, 0);
    } else {
      EXPECT_EQ(violation->property, "exact_law") << "losslessness is what the reader came for";
      EXPECT_NE(violation->evidence.find("TV "), std::string::npos) << violation->evidence;
      EXPECT_GT(proof.distance->off, 0);
      EXPECT_GT(proof.distance->largest, 0);
    }
    EXPECT_EQ(proof.lossy(), verifier.info().promise == Promise::lossy);
    EXPECT_LE(violation->instance->vocabulary(), 4) << violation->instance->text();
    EXPECT_LE(violation->instance->drafts, 3) << violation->instance->text();
    EXPECT_NE(violation->replay.find(violation->instance->text()), std::string::npos) << violation->replay;
    // What the replay line shows again.
    const Proof again = prove_on(verifier, drafter, *violation->instance, {});
    ASSERT_TRUE(again.violation());
    EXPECT_EQ(again.violation()->evidence, violation->evidence);
    EXPECT_EQ(*again.violation()->instance, *violation->instance) << "a shrunk instance shrinks no further";
  });
}

TEST(Prover, DistanceIsTheLargestOverTheInstances) {
  const AnyVerifier& verifier = *registry().verifier("lenience");
  const AnyDrafter& iid = *registry().drafter("iid");
  const Proof proof = prove(verifier, iid, quick);
  ASSERT_TRUE(proof.distance);
  Rational largest = 0;
  int off = 0;
  for (int n = 0; n < quick.instances; ++n) {
    const Instance instance = generate_instance(quick.seed, n, 1, false);
    Examination at(verifier, iid, instance);
    const Rational distance = total_variation(at.law().output, normalised(instance.target));
    largest = std::max(largest, distance);
    off += distance > 0;
  }
  EXPECT_EQ(proof.distance->largest, largest);
  EXPECT_EQ(proof.distance->off, off);
  EXPECT_EQ(prove_on(verifier, iid, proof.distance->instance, {}).distance->largest, largest);
  EXPECT_EQ(prove(*registry().verifier("single_draft"), iid, quick).distance->largest, 0);
}

TEST(Prover, ProofDoesNotDependOnTheNumberOfThreads) {
  for (const std::string_view name : {"recursive_rejection", "k_seq", "resample_from_target"}) {
    const AnyVerifier& verifier = *registry().verifier(name);
    const AnyDrafter& drafter = *registry().drafter("iid");
    const auto run = [&](int threads) { return prove(verifier, drafter, {.instances = 60, .threads = threads}); };
    const Proof one = run(1);
    for (const int threads : {2, 7}) {
      const Proof many = run(threads);
      EXPECT_EQ(many.instances, one.instances);
      EXPECT_EQ(many.leaves, one.leaves);
      EXPECT_EQ(many.distance->largest, one.distance->largest);
      EXPECT_EQ(many.distance->instance, one.distance->instance);
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

TEST(Prover, DoesNotClaimWhatItCouldNotWalk) {
  const Proof proof = prove(*registry().verifier("recursive_rejection"), *registry().drafter("iid"),
                            {.instances = 30, .limits = {.leaves = 3}});
  EXPECT_FALSE(proof.exact());
  for (const Finding& finding : proof.findings) {
    EXPECT_NE(finding.status, Status::violated) << finding.property;
    if (finding.property == "exact_law") {
      EXPECT_EQ(finding.status, Status::undecided);
      EXPECT_GT(finding.undecided, 0);
      EXPECT_FALSE(finding.evidence.empty());
    }
  }
}

TEST(Prover, StopsWhenAsked) {
  const std::atomic<bool> stop{true};
  const Proof proof = prove(*registry().verifier("single_draft"), *registry().drafter("iid"), {.stop = &stop});
  EXPECT_EQ(proof.instances, 0);
  EXPECT_FALSE(proof.exact());
}

TEST(Prover, EveryPropertyIsMetWithinTheQuickRun) {
  // Rationed properties (every > 1) must still be decided on some instance.
  const Proof proof = prove(*registry().verifier("recursive_rejection"), *registry().drafter("iid"), quick);
  EXPECT_GE(proof.findings.size(), 7u);
  for (const Finding& finding : proof.findings) EXPECT_GE(finding.held, 3) << finding.property;
}

}  // namespace
}  // namespace draftproof
