// Tests that the registries contain every entry that the build found, once and in order; that the references between
// their entries are valid; and that verifiers are matched with tree drafters by their infos alone.
#include <algorithm>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/prover/register_verifier.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/sim/drafters/trees/paths.hpp>
#include <draftproof/sim/drafters/trees/trees.hpp>
#include <draftproof/sim/trees/node_by_node.hpp>
#include <draftproof/verifiers/mutants/residual.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>
#include <draftproof/verifiers/single_draft.hpp>

namespace draftproof {
namespace {

std::unique_ptr<AnyVerifier> single_draft() {
  return std::make_unique<VerifierOf<verifiers::SingleDraft>>(Kind::verifier);
}

TEST(Registry, RefusesTwoThingsOfOneName) {
  Registry local;
  local.add(single_draft());
  EXPECT_THROW(local.add(single_draft()), std::logic_error);
  EXPECT_THROW(local.add(std::make_unique<VerifierOf<verifiers::SingleDraft>>(Kind::mutant)), std::logic_error);
  local.add(std::make_unique<DrafterOf<drafters::Iid>>());
  EXPECT_THROW(local.add(std::make_unique<DrafterOf<drafters::Iid>>()), std::logic_error);
  local.add(Generator{"plain", "", {}});
  EXPECT_THROW(local.add(Generator{"plain", "", {}}), std::logic_error);
  local.add(Property{"holds", "", 1, true, Tier::proof, nullptr, nullptr});
  EXPECT_THROW(local.add(Property{"holds", "", 1, true, Tier::proof, nullptr, nullptr}), std::logic_error);
}

TEST(Registry, SortsVerifiersBeforeMutantsAndByName) {
  Registry local;
  local.add(std::make_unique<VerifierOf<mutants::ResampleFromTarget>>(Kind::mutant));
  local.add(single_draft());
  EXPECT_EQ(local.verifiers().front()->kind(), Kind::verifier);
  const auto& all = registry().verifiers();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tuple(a->kind(), a->info().name) < std::tuple(b->kind(), b->info().name);
  }));
}

TEST(Registry, FindsByNameOrNotAtAll) {
  EXPECT_EQ(registry().verifier("single_draft")->info().name, "single_draft");
  EXPECT_EQ(registry().drafter("iid")->info().name, "iid");
  EXPECT_EQ(registry().verifier("no_such_scheme"), nullptr);
  EXPECT_EQ(registry().drafter("no_such_distribution"), nullptr);
}

TEST(Registry, EveryDistributionThatAVerifierNamesExists) {
  const auto check = [](const auto& found, bool one_drafter_a_distribution, auto exists) {
    for (const auto& verifier : found.verifiers()) {
      const DraftSamplings& distributions = verifier->info().drafts;
      for (std::size_t i = 0; i < distributions.count; ++i)
        EXPECT_TRUE(exists(distributions.names[i])) << verifier->info().name << " names " << distributions.names[i];
      const std::size_t matching = found.drafters_of(verifier->info()).size();
      EXPECT_GT(matching, 0u) << verifier->info().name;
      if (distributions.any() || one_drafter_a_distribution) {
        EXPECT_EQ(matching, distributions.any() ? found.drafters().size() : distributions.count)
            << verifier->info().name;
      }
    }
  };
  check(registry(), true, [](std::string_view distribution) { return registry().drafter(distribution) != nullptr; });
  // The info of a verifier of trees may name a draft sampling of trees, or a draft sampling of one position, from which
  // the siblings at a node are drawn.
  check(path_registry(), false, [](std::string_view distribution) {
    return path_registry().drafter(distribution) != nullptr || registry().drafter(distribution) != nullptr;
  });
}

TEST(Registry, EveryEntrySaysWhatItIs) {
  for (const auto& verifier : registry().verifiers()) {
    const Info& info = verifier->info();
    EXPECT_FALSE(info.name.empty());
    EXPECT_FALSE(info.summary.empty()) << info.name;
    EXPECT_FALSE(info.source.empty()) << info.name;
    if (info.shared_noise) {
      EXPECT_FALSE(info.unsupported.explore.empty()) << info.name << " reads noise, which no explorer has";
      for (std::size_t i = 0; i < info.drafts.count; ++i)
        EXPECT_TRUE(registry().drafter(info.drafts.names[i])->info().shared_noise()) << info.name;
      EXPECT_FALSE(info.drafts.any()) << info.name;
    }
    EXPECT_EQ(info.tau > 0, info.promise == Promise::lossless_up_to) << info.name;
    EXPECT_TRUE(verifier->takes(info.fewest_drafts)) << info.name;
    EXPECT_FALSE(verifier->takes(info.fewest_drafts - 1)) << info.name;
    EXPECT_TRUE(info.most_drafts == 0 || !verifier->takes(info.most_drafts + 1)) << info.name;
  }
  for (const auto& drafter : registry().drafters()) EXPECT_FALSE(drafter->info().summary.empty());
  for (const Property& property : registry().properties()) {
    EXPECT_FALSE(property.about.empty()) << property.name;
    EXPECT_GE(property.every, 1) << property.name;
  }
}

TEST(Registry, SchemesRunWhereTheySayTheyDo) {
  const Rows<double> rows({0.5, 0.5}, std::vector<double>{0.25, 0.75});
  const RatioTable table({{0.5, 0.5}}, std::vector<double>{0.25, 0.75});
  for (const auto& verifier : registry().verifiers()) {
    const Unsupported& unsupported = verifier->info().unsupported;
    EXPECT_EQ(verifier->explore_on(rows, 1) != nullptr,
              unsupported.explore.empty() && verifier->info().precision_audited())
        << verifier->info().name;
    EXPECT_EQ(verifier->simulate_on(table, 1) != nullptr, unsupported.simulate.empty()) << verifier->info().name;
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
  // iid_paths merges equal paths, so the number of siblings at a node depends on their tokens, and a plan for siblings
  // drawn without replacement is wrong: p = (1 1)/2, q = (2 1)/3, K = 2 refutes it.
  const AnyPathVerifier* plan = path_registry().verifier("optimal_transport_wor_tree");
  ASSERT_TRUE(plan);
  const TreeDrafterInfo& paths = path_registry().drafter("iid_paths")->info();
  EXPECT_FALSE(takes_trees(plan->info(), paths));
  EXPECT_TRUE(takes_trees(path_registry().verifier("recursive_rejection_wor_tree")->info(), paths));
  const PathProof proof = prove_on(*plan, *path_registry().drafter("iid_paths"),
                                   PathInstance::parse("L=1 K=2 [] p=(1 1)/2 q=(2 1)/3"), {});
  ASSERT_TRUE(proof.violation());
  EXPECT_EQ(proof.violation()->evidence,
            "after [] got (5/9 4/9), expected (1/2 1/2), TV 1/18; reached with probability 1");
}

constexpr Info written_for(DraftSamplings distributions, bool sequential = false) {
  return {.name = "some_tree", .summary = "", .source = "", .drafts = distributions, .sequential = sequential};
}

TEST(TakesTrees, ByTheirNameOrByWhatTheirSiblingsAre) {
  constexpr TreeDrafterInfo plain{.name = "odd_trees", .summary = ""};
  constexpr TreeDrafterInfo sampled{.name = "odd_trees",
                                    .summary = "",
                                    .siblings = DraftSamplings{"iid"},
                                    .siblings_sequential = DraftSamplings{"distinct"}};
  for (const TreeDrafterInfo& trees : {plain, sampled}) {
    EXPECT_TRUE(takes_trees(written_for(any_draft_sampling), trees));
    EXPECT_TRUE(takes_trees(written_for(DraftSamplings{"chain", "odd_trees"}), trees));
    EXPECT_FALSE(takes_trees(written_for(DraftSamplings{"chain"}, true), trees)) << "of no such distribution";
  }
  EXPECT_FALSE(takes_trees(written_for(DraftSamplings{"iid"}, true), plain))
      << "siblings of no distribution are not of any";
  EXPECT_TRUE(takes_trees(written_for(DraftSamplings{"chain", "iid"}), sampled));
  EXPECT_TRUE(takes_trees(written_for(DraftSamplings{"distinct"}, true), sampled));
  EXPECT_FALSE(takes_trees(written_for(DraftSamplings{"distinct"}), sampled)) << "only in turn";
}

TEST(PathRegistry, AWalkWaitsForATreeSampling) {
  const auto erased = [](auto verifier) {
    return std::make_unique<PathVerifierOf<LiftedToTrees<decltype(verifier)>>>(Kind::verifier);
  };
  PathRegistry registry;
  registry.add(erased(verifiers::RecursiveRejection{}));
  registry.add(erased(verifiers::RecursiveRejectionWor{}));
  EXPECT_TRUE(registry.verifiers().empty());
  EXPECT_THROW(registry.add(erased(verifiers::RecursiveRejection{})), std::logic_error);
  registry.add(std::make_unique<TreeDrafterOf<tree_drafters::WithoutReplacementTree>>());
  EXPECT_EQ(registry.verifiers().size(), 1u);
  EXPECT_TRUE(registry.verifier("recursive_rejection_wor_tree"));
  EXPECT_FALSE(registry.verifier("recursive_rejection_tree"));
  registry.add(std::make_unique<TreeDrafterOf<tree_drafters::IidPaths>>());
  EXPECT_EQ(registry.verifiers().size(), 2u);
  EXPECT_EQ(registry.drafters_of(registry.verifier("recursive_rejection_tree")->info()).size(), 1u);
  EXPECT_EQ(registry.drafters_of(registry.verifier("recursive_rejection_wor_tree")->info()).size(), 2u);
}

TEST(Registration, MistakesAreKeptUntilSomebodyCanSayThem) {
  const auto before = registration_mistakes();
  keep_mistakes([] { throw std::logic_error("registered twice: single_draft"); });
  keep_mistakes([] {});
  ASSERT_EQ(registration_mistakes().size(), before.size() + 1);
  EXPECT_EQ(registration_mistakes().back(), "registered twice: single_draft");
  registration_mistakes() = before;
}

}  // namespace
}  // namespace draftproof
