// The registry holds everything that the build found once and in order, and the references between its entries are
// valid.
#include <algorithm>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

#include <draftproof/mutants/residual.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
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
  local.add(std::make_unique<DrafterOf<drafters::Iid>>());
  EXPECT_THROW(local.add(std::make_unique<DrafterOf<drafters::Iid>>()), std::logic_error);
  local.add(Generator{"plain", "", {}});
  EXPECT_THROW(local.add(Generator{"plain", "", {}}), std::logic_error);
  local.add(Property{"holds", "", 1, true, Tier::proof, nullptr, nullptr});
  EXPECT_THROW(local.add(Property{"holds", "", 1, true, Tier::proof, nullptr, nullptr}), std::logic_error);
}

TEST(Registry, RefusesAMutantWithTheNameOfAVerifier) {
  Registry local;
  local.add(single_draft());
  EXPECT_THROW(local.add(std::make_unique<VerifierOf<verifiers::SingleDraft>>(Kind::mutant)), std::logic_error);
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
  EXPECT_EQ(registry().drafter("no_such_law"), nullptr);
}

TEST(Registry, EveryLawThatAVerifierNamesExists) {
  for (const auto& verifier : registry().verifiers()) {
    const DraftLaws& laws = verifier->info().drafts;
    for (std::size_t i = 0; i < laws.count; ++i)
      EXPECT_TRUE(registry().drafter(laws.names[i])) << verifier->info().name << " names " << laws.names[i];
    const auto matching = registry().drafters_of(verifier->info());
    EXPECT_EQ(matching.size(), laws.any() ? registry().drafters().size() : laws.count) << verifier->info().name;
  }
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

}  // namespace
}  // namespace draftproof
