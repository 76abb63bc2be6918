// Summaries of proofs of verifiers of paths, and the contents of the registry of paths. Proofs of single verifiers
// are tested at both levels in tests/properties/prover/prover_test.cpp.
#include <set>

#include <gtest/gtest.h>

#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/prover/path_registry.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/tests/support/wrong_schemes.hpp>

namespace draftproof {
namespace {

TEST(PathProver, MutantsDoNotDecideWhatProofsComeTo) {
  const AnyTreeDrafter& drafter = *path_registry().drafter("iid_paths");
  const PathVerifierOf<wrong::AcceptAlways> believed(Kind::verifier), mutant(Kind::mutant);
  const PathProof held = prove(*path_registry().verifier("token_path"), drafter, {.instances = 6});
  const PathProof refuted = prove(believed, drafter, {.instances = 6}),
                  expected = prove(mutant, drafter, {.instances = 6});
  const PathProof open =
      prove(*path_registry().verifier("token_path"), drafter, {.instances = 6, .limits = {.leaves = 1}});
  EXPECT_EQ(status_of<BlockLevel>({}), Status::held);
  EXPECT_EQ(status_of<BlockLevel>({held, expected}), Status::held);
  EXPECT_EQ(status_of<BlockLevel>({held, open, expected}), Status::undecided);
  EXPECT_EQ(status_of<BlockLevel>({open, refuted, held}), Status::violated);
}

TEST(PathRegistry, EveryLawThatAVerifierNamesExists) {
  for (const auto& verifier : path_registry().verifiers()) {
    const DraftLaws& laws = verifier->info().drafts;
    for (std::size_t i = 0; i < laws.count; ++i)
      EXPECT_TRUE(path_registry().drafter(laws.names[i]) || registry().drafter(laws.names[i]))
          << verifier->info().name << " names " << laws.names[i];
    const auto matching = path_registry().drafters_of(verifier->info());
    EXPECT_FALSE(matching.empty()) << verifier->info().name;
    if (laws.any()) {
      EXPECT_EQ(matching.size(), path_registry().drafters().size()) << verifier->info().name;
    }
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
  // The number of distinct siblings of merged paths depends on the siblings: p = (1 1)/2, q = (2 1)/3, K = 2 refutes
  // such a plan.
  const AnyPathVerifier* plan = path_registry().verifier("optimal_transport_wor_tree");
  ASSERT_TRUE(plan);
  const TreeDrafterInfo& paths = path_registry().drafter("iid_paths")->info();
  EXPECT_FALSE(takes_trees(plan->info(), paths));
  EXPECT_TRUE(takes_trees(path_registry().verifier("recursive_rejection_wor_tree")->info(), paths));
  const PathProof proof = prove_on(*plan, *path_registry().drafter("iid_paths"),
                                   PathInstance::parse("L=1 K=2 [] p=(1 1)/2 q=(2 1)/3"), {});
  ASSERT_TRUE(proof.violation());
  EXPECT_EQ(proof.violation()->evidence,
            "after [] got (5/9 4/9), wanted (1/2 1/2), TV 1/18; reached with probability 1");
}

}  // namespace
}  // namespace draftproof
