// Tests of the prover on all registered verifiers, at both levels (one position, paths): lossless schemes are exact,
// mutants are refuted by small instances, and the result does not depend on the number of threads.
#include <algorithm>
#include <array>
#include <atomic>

#include <gtest/gtest.h>

#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/tests/support/wrong_schemes.hpp>

namespace draftproof {
namespace {

const ProofOptions quick{.instances = 120};

template <class Level>
class Prover;

template <>
class Prover<TokenLevel> : public testing::Test {
 protected:
  static const Registry& found() { return registry(); }
  static constexpr std::string_view distribution = "iid";
  static constexpr std::string_view exact = "recursive_rejection";
  static constexpr std::array<std::string_view, 3> several{"recursive_rejection", "k_seq", "resample_from_target"};
  static constexpr std::uint64_t few_branches = 3;
  static inline const ProofOptions options{.instances = 120};

  static void expect_small(const Instance& instance) {
    EXPECT_LE(instance.vocabulary(), 4) << instance.text();
    EXPECT_LE(instance.drafts, 3) << instance.text();
  }
};

template <>
class Prover<BlockLevel> : public testing::Test {
 protected:
  static const PathRegistry& found() { return path_registry(); }
  static constexpr std::string_view distribution = "iid_paths";
  static constexpr std::string_view exact = "recursive_rejection_tree";
  static constexpr std::array<std::string_view, 3> several{"block", "k_seq_tree", "wor_verified_as_iid_tree"};
  static constexpr std::uint64_t few_branches = 2;
  static inline const ProofOptions options{};

  static void expect_small(const PathInstance& instance) {
    EXPECT_LE(instance.vocabulary(), 3) << instance.text();
    EXPECT_LE(instance.rows.size(), 5u) << instance.text();
  }
};

struct LevelNames {
  template <class Level>
  static std::string GetName(int) {
    return std::string(Level::name);
  }
};
using Levels = testing::Types<TokenLevel, BlockLevel>;
TYPED_TEST_SUITE(Prover, Levels, LevelNames);

/// Calls `visit(verifier, drafter)` for every pair that can be explored.
void for_each_pair(const auto& found, Kind kind, auto&& visit) {
  int visited = 0;
  for (const auto& verifier : found.verifiers()) {
    if (verifier->kind() != kind || !verifier->info().unsupported.explore.empty()) continue;
    if (verifier->info().wrong_by_rounding) continue;  // correct in fractions; tested by audit_test.cpp
    for (const auto* drafter : found.drafters_of(verifier->info())) {
      SCOPED_TRACE(std::string(verifier->info().name) + " on " + std::string(drafter->info().name));
      visit(*verifier, *drafter);
      ++visited;
    }
  }
  EXPECT_GT(visited, 0);
}

TYPED_TEST(Prover, EveryVerifierKeepsItsPromiseOnEveryDistributionItTakes) {
  for_each_pair(this->found(), Kind::verifier, [](const auto& verifier, const auto& drafter) {
    ProofOptions options = TestFixture::options;
    options.tier.reset();
    const auto proof = prove(verifier, drafter, options);
    const int asked = TestFixture::options.instances;
    EXPECT_EQ(proof.instances, asked > 0 ? asked : TypeParam::instances);
    EXPECT_TRUE(proof.kept());
    EXPECT_EQ(proof.exact(), verifier.info().promise == Promise::lossless);
    for (const auto& finding : proof.findings)
      EXPECT_TRUE(finding.status == Status::passed || finding.status == Status::skipped)
          << finding.property << " " << to_text(finding.status) << ": " << finding.evidence << " " << finding.replay;
  });
}

TYPED_TEST(Prover, EveryMutantIsRefutedByASmallInstance) {
  for_each_pair(this->found(), Kind::mutant, [](const auto& verifier, const auto& drafter) {
    const auto proof = prove(verifier, drafter, {.tier = std::nullopt});
    const auto* violation = proof.violation();
    ASSERT_TRUE(violation);
    if (proof.exact()) {
      // The distribution of one decision does not reveal the mutant. A property of tier `edge` must reveal it.
      const auto& all = TypeParam::properties();
      const auto property =
          std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == violation->property; });
      EXPECT_EQ(property->tier, Tier::edge) << violation->property;
      if (proof.distance) {
        EXPECT_EQ(proof.distance->largest, 0);
      }
    } else {
      const auto& decisive = TypeParam::decisive;
      EXPECT_NE(std::find(decisive.begin(), decisive.end(), violation->property), decisive.end())
          << violation->property << ": losslessness is what the reader came for";
      // If a verifier is not a function of its inputs, it has no distribution, so the evidence has no total variation.
      EXPECT_TRUE(violation->evidence.find("TV ") != std::string::npos ||
                  violation->evidence.find("not a function of its inputs") != std::string::npos)
          << violation->evidence;
      if (violation->property == decisive.front()) {  // another property decides for schemes with state
        ASSERT_TRUE(proof.distance) << "how far the distribution is from p must be visible";
        EXPECT_GT(proof.distance->off, 0);
        EXPECT_GT(proof.distance->largest, 0);
      }
    }
    EXPECT_EQ(proof.lossy(), verifier.info().promise == Promise::lossy);
    ASSERT_FALSE(violation->instance.empty());
    const auto smallest = TypeParam::Instance::parse(violation->instance);
    TestFixture::expect_small(smallest);
    EXPECT_NE(violation->replay.find(violation->instance), std::string::npos) << violation->replay;
    // The replay line, parsed from its text, must reproduce the violation.
    const auto again = prove_on(verifier, drafter, smallest, {.tier = std::nullopt});
    ASSERT_TRUE(again.violation());
    EXPECT_EQ(again.violation()->evidence, violation->evidence);
    EXPECT_EQ(again.violation()->instance, violation->instance) << "a shrunk instance shrinks no further";
  });
}

TYPED_TEST(Prover, ProofDoesNotDependOnTheNumberOfThreads) {
  for (const std::string_view name : this->several) {
    const auto& verifier = *this->found().verifier(name);
    const auto& drafter = *this->found().drafter(this->distribution);
    const auto run = [&](int threads) { return prove(verifier, drafter, {.instances = 60, .threads = threads}); };
    const auto one = run(1);
    for (const int threads : {2, 7}) {
      const auto many = run(threads);
      EXPECT_EQ(many.instances, one.instances);
      EXPECT_EQ(many.leaves, one.leaves);
      EXPECT_EQ(many.distance->largest, one.distance->largest);
      EXPECT_EQ(many.distance->instance, one.distance->instance);
      ASSERT_EQ(many.findings.size(), one.findings.size());
      for (std::size_t i = 0; i < one.findings.size(); ++i) {
        EXPECT_EQ(many.findings[i].property, one.findings[i].property);
        EXPECT_EQ(many.findings[i].status, one.findings[i].status);
        EXPECT_EQ(many.findings[i].passed, one.findings[i].passed);
        EXPECT_EQ(many.findings[i].evidence, one.findings[i].evidence);
        EXPECT_EQ(many.findings[i].instance, one.findings[i].instance);
      }
    }
  }
}

TYPED_TEST(Prover, DoesNotClaimWhatItCouldNotWalk) {
  const auto proof = prove(*this->found().verifier(this->exact), *this->found().drafter(this->distribution),
                           {.instances = 30, .limits = {.leaves = this->few_branches}});
  EXPECT_FALSE(proof.exact());
  int undecided = 0;
  for (const auto& finding : proof.findings) {
    EXPECT_NE(finding.status, Status::failed) << finding.property << ": " << finding.evidence;
    if (finding.property != TypeParam::decisive.front()) continue;
    EXPECT_EQ(finding.status, Status::undecided);
    EXPECT_GT(finding.undecided, 0);
    EXPECT_FALSE(finding.evidence.empty());
    ++undecided;
  }
  EXPECT_EQ(undecided, 1);
}

TYPED_TEST(Prover, StopsWhenAsked) {
  const std::atomic<bool> stop{true};
  const auto proof =
      prove(*this->found().verifier(this->exact), *this->found().drafter(this->distribution), {.stop = &stop});
  EXPECT_EQ(proof.instances, 0);
  EXPECT_FALSE(proof.exact());
}

TYPED_TEST(Prover, EveryPropertyIsMetWithinTheQuickRun) {
  // Properties that are checked on every n-th instance only must still be decided on some instance.
  const auto proof = prove(*this->found().verifier(this->exact), *this->found().drafter(this->distribution), quick);
  EXPECT_GE(proof.findings.size(), 7u);
  for (const auto& finding : proof.findings) EXPECT_GE(finding.passed, 3) << finding.property;
}

TEST(ProverOfPositions, DistanceIsTheLargestOverTheInstances) {
  const AnyVerifier& verifier = *registry().verifier("lenience");
  const AnyDrafter& iid = *registry().drafter("iid");
  const Proof proof = prove(verifier, iid, quick);
  ASSERT_TRUE(proof.distance);
  Rational largest = 0;
  int off = 0;
  for (int n = 0; n < quick.instances; ++n) {
    const Instance instance = generate_instance(quick.seed, n, 1, false);
    InstanceAnalysis at(verifier, iid, instance);
    const Rational distance = total_variation(at.distribution().output, normalised(instance.target));
    largest = std::max(largest, distance);
    off += distance > 0;
  }
  for (const Finding& finding : proof.findings)  // The largest distance includes the reported counterexamples.
    if (finding.status == Status::failed) {
      const Instance shown = Instance::parse(finding.instance);
      InstanceAnalysis at(verifier, iid, shown);
      largest = std::max(largest, total_variation(at.distribution().output, normalised(shown.target)));
    }
  EXPECT_EQ(proof.distance->largest, largest);
  EXPECT_EQ(proof.distance->off, off);
  EXPECT_EQ(prove_on(verifier, iid, proof.distance->instance, {}).distance->largest, largest);
  EXPECT_EQ(prove(*registry().verifier("single_draft"), iid, quick).distance->largest, 0);
}

TEST(ProverOfPaths, MutantsDoNotDecideWhatProofsComeTo) {
  const AnyTreeDrafter& drafter = *path_registry().drafter("iid_paths");
  const PathVerifierOf<wrong::AcceptAlways> believed(Kind::verifier), mutant(Kind::mutant);
  const PathProof passed = prove(*path_registry().verifier("token_path"), drafter, {.instances = 6});
  const PathProof refuted = prove(believed, drafter, {.instances = 6}),
                  expected = prove(mutant, drafter, {.instances = 6});
  const PathProof open =
      prove(*path_registry().verifier("token_path"), drafter, {.instances = 6, .limits = {.leaves = 1}});
  EXPECT_EQ(status_of<BlockLevel>({}), Status::passed);
  EXPECT_EQ(status_of<BlockLevel>({passed, expected}), Status::passed);
  EXPECT_EQ(status_of<BlockLevel>({passed, open, expected}), Status::undecided);
  EXPECT_EQ(status_of<BlockLevel>({open, refuted, passed}), Status::failed);
}

}  // namespace
}  // namespace draftproof
