// Tests that every wrong component fails a check of its group on a small counterexample, that correct components fail
// no check, and that every check detects at least one wrong component.
#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include <draftproof/properties/components/batch/batch_case.hpp>
#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/components/target/target_group.hpp>
#include <draftproof/tests/support/nightly.hpp>

namespace draftproof {
namespace {

bool mapping_refused(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.property == "wide_pitch" && finding.status == Status::skipped;
  });
}

TEST(Components, EveryGroupHasCorrectAndWrongOnes) {
  std::map<std::string, std::map<Kind, int>> count;
  for (const auto& component : component_registry().components())
    ++count[std::string(component->group())][component->kind()];
  EXPECT_GE(count["batch"][Kind::verifier], 3);
  EXPECT_GE(count["batch"][Kind::mutant], 17);
  EXPECT_GE(count["counter"][Kind::verifier], 2);
  EXPECT_GE(count["counter"][Kind::mutant], 4);
  EXPECT_GE(count["target"][Kind::verifier], 2);
  EXPECT_GE(count["target"][Kind::mutant], 9);
  EXPECT_GE(count["sampler"][Kind::verifier], 5);
  EXPECT_GE(count["sampler"][Kind::mutant], 7);
  EXPECT_GE(count["selection"][Kind::verifier], 11);
  EXPECT_GE(count["selection"][Kind::mutant], 9);
  EXPECT_GE(count["grammar"][Kind::verifier], 2);
  EXPECT_GE(count["grammar"][Kind::mutant], 7);
}

/// One test examines all components, because the search for counterexamples is slow. That every mutant is caught is
/// tested by the kill matrix.
TEST(Components, EveryCheckHasASmallCounterexampleThatReplays) {
  std::set<std::string> asked, failed;
  for (const auto& component : component_registry().components()) {
    const std::string name(component->info().name);
    const auto findings = component->examine({});
    for (const Finding& finding : findings) {
      SCOPED_TRACE(name + ", " + finding.property + ": " + finding.instance);
      asked.insert(finding.property);
      if (mapping_refused(findings)) failed.insert(finding.property);
      if (finding.status != Status::failed) continue;
      failed.insert(finding.property);
      const auto again = examine_one(name, finding.property, finding.instance);
      ASSERT_TRUE(again);
      EXPECT_EQ(again->status, Status::failed);
      EXPECT_EQ(again->evidence, finding.evidence);
      EXPECT_EQ(again->instance, finding.instance);
      EXPECT_EQ(finding.replay, "draftproof replay " + component->qualified_name() + " --property " +
                                    finding.property + " --instance '" + finding.instance + "'");
      if (component->group() == "batch") {
        const BatchCase one = BatchCase::parse(finding.instance);
        EXPECT_LE(one.vocabulary(), 4);
        EXPECT_LE(one.longest(), 3);
        EXPECT_LE(std::ssize(one.requests), component->info().chunk > 0 ? component->info().chunk + 1 : 3);
      } else if (component->group() == "target") {
        const TargetCase one = TargetCase::parse(finding.instance);
        EXPECT_LE(one.request.vocabulary(), 4);  // a filter removes one token, and another token separates the rest
        EXPECT_LE(one.request.drafts(), 3);
      }
    }
  }
  EXPECT_GE(asked.size(), 24u);
  EXPECT_EQ(asked, failed);
}

TEST(Components, NoCorrectOneIsAccused) {
  for (const auto& component : component_registry().components()) {
    if (component->kind() != Kind::verifier) continue;
    // Samplers get fewer seeds, because they are tested on large rows, which are the same for every seed.
    const std::uint64_t seeds = component->group() == "sampler" ? swept(1u, 2u) : swept(2u, 6u);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      int passed = 0;
      for (const Finding& finding : component->examine({.seed = seed})) {
        EXPECT_NE(finding.status, Status::failed)
            << component->info().name << ", " << finding.property << ": " << finding.evidence << "\n"
            << finding.instance;
        EXPECT_NE(finding.status, Status::undecided) << component->info().name << ", " << finding.property;
        passed += finding.status == Status::passed;
        EXPECT_TRUE(finding.status != Status::passed || finding.work > 0) << finding.property;
      }
      // Policies that are correct for sample-and-match only have one check less: non_anticipation is skipped.
      const std::string_view group = component->group();
      const int fewest = group == "selection" ? 1 : group == "counter" || group == "grammar" ? 2 : 3;
      EXPECT_GE(passed, fewest) << component->info().name;
    }
  }
}

TEST(Components, UnknownNamesAreNoFindings) {
  EXPECT_FALSE(examine_one("no_such_component", "row_alone", "w=(1)/1"));
  EXPECT_FALSE(examine_one("token_chain", "no_such_check", "w=(1)/1"));
  EXPECT_THROW(examine_one("token_chain", "row_alone", "w=(1)/1"), std::invalid_argument);
}

}  // namespace
}  // namespace draftproof
