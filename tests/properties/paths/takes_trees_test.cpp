// Verifiers and tree drafters are matched by their infos; no list names pairs.
#include <gtest/gtest.h>

#include <draftproof/properties/prover/path_registry.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/sim/drafters/trees/paths.hpp>
#include <draftproof/sim/drafters/trees/trees.hpp>
#include <draftproof/sim/trees/node_by_node.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>

namespace draftproof {
namespace {

constexpr Info written_for(DraftLaws laws, bool sequential = false) {
  return {.name = "some_tree", .summary = "", .source = "", .drafts = laws, .sequential = sequential};
}

TEST(TakesTrees, ByTheirNameOrByWhatTheirSiblingsAre) {
  constexpr TreeDrafterInfo plain{.name = "odd_trees", .summary = ""};
  constexpr TreeDrafterInfo sampled{
      .name = "odd_trees", .summary = "", .siblings = DraftLaws{"iid"}, .siblings_sequential = DraftLaws{"distinct"}};
  for (const TreeDrafterInfo& trees : {plain, sampled}) {
    EXPECT_TRUE(takes_trees(written_for(any_law), trees));
    EXPECT_TRUE(takes_trees(written_for(DraftLaws{"chain", "odd_trees"}), trees));
    EXPECT_FALSE(takes_trees(written_for(DraftLaws{"chain"}, true), trees)) << "of no such law";
  }
  EXPECT_FALSE(takes_trees(written_for(DraftLaws{"iid"}, true), plain)) << "siblings of no law are not of any";
  EXPECT_TRUE(takes_trees(written_for(DraftLaws{"chain", "iid"}), sampled));
  EXPECT_TRUE(takes_trees(written_for(DraftLaws{"distinct"}, true), sampled));
  EXPECT_FALSE(takes_trees(written_for(DraftLaws{"distinct"}), sampled)) << "only in turn";
}

TEST(PathRegistry, AWalkWaitsForATreeLaw) {
  const auto walk = [](auto verifier) {
    return std::make_unique<PathVerifierOf<LiftedToTrees<decltype(verifier)>>>(Kind::verifier);
  };
  PathRegistry registry;
  registry.add(walk(verifiers::RecursiveRejection{}));
  registry.add(walk(verifiers::RecursiveRejectionWor{}));
  EXPECT_TRUE(registry.verifiers().empty());
  EXPECT_THROW(registry.add(walk(verifiers::RecursiveRejection{})), std::logic_error);
  registry.add(std::make_unique<TreeDrafterOf<tree_drafters::WithoutReplacementTree>>());
  EXPECT_EQ(registry.verifiers().size(), 1u);
  EXPECT_TRUE(registry.verifier("recursive_rejection_wor_tree"));
  EXPECT_FALSE(registry.verifier("recursive_rejection_tree"));
  registry.add(std::make_unique<TreeDrafterOf<tree_drafters::IidPaths>>());
  EXPECT_EQ(registry.verifiers().size(), 2u);
  EXPECT_EQ(registry.drafters_of(registry.verifier("recursive_rejection_tree")->info()).size(), 1u);
  EXPECT_EQ(registry.drafters_of(registry.verifier("recursive_rejection_wor_tree")->info()).size(), 2u);
}

}  // namespace
}  // namespace draftproof
