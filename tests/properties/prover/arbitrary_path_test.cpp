// Tests that RapidCheck's models of paths are valid, parse from their printed text, and shrink to instances that can be
// checked by hand.
#include <numeric>
#include <sstream>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <draftproof/properties/paths/checks/output_distribution.hpp>
#include <draftproof/properties/prover/arbitrary.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/tests/support/wrong_schemes.hpp>

namespace draftproof {
namespace {

bool keeps_completed_distribution(const AnyPathVerifier& verifier, const PathInstance& instance) {
  const AnyTreeDrafter& drafter = *path_registry().drafter("iid_paths");
  if (!PathInstanceAnalysis::possible(verifier, drafter, instance)) return true;
  PathInstanceAnalysis at(verifier, drafter, instance);
  return checks::paths::CompletedDistribution::check(at).status != Status::failed;
}

/// Returns the result of RapidCheck's shrinking, which replaces a failing model by its first failing shrink until no
/// shrink fails.
std::optional<PathInstance> shrunk_failure(const AnyPathVerifier& verifier, const rc::Gen<PathInstance>& models) {
  rc::Random random(20);
  for (int i = 0; i < 200; ++i) {
    rc::Shrinkable<PathInstance> model = models(random.split(), rc::kNominalSize);
    if (keeps_completed_distribution(verifier, model.value())) continue;
    for (auto shrinks = model.shrinks(); auto next = shrinks.next();)
      if (!keeps_completed_distribution(verifier, next->value())) {
        model = *next;
        shrinks = model.shrinks();
      }
    return model.value();
  }
  return std::nullopt;
}

int total_weight(PathInstance instance) {
  int total = 0;
  for (const auto* row : rows_of(instance)) total = std::accumulate(row->begin(), row->end(), total);
  return total;
}

RC_GTEST_PROP(ArbitraryPathInstance, IsValidAndPrintsWhatReadsBack, (const PathInstance& instance)) {
  RC_ASSERT(instance.valid());
  RC_ASSERT(instance.shape.drafts <= 3);
  std::ostringstream shown;
  rc::show(instance, shown);
  RC_ASSERT(PathInstance::parse(shown.str()) == instance);
}

RC_GTEST_PROP(ArbitraryPathInstance, IsOneThatBlockVerificationIsExactOn, ()) {
  RC_ASSERT(keeps_completed_distribution(*path_registry().verifier("block"), *path_instances({.most_drafts = 1})));
}

TEST(ArbitraryPathInstance, AWrongBonusShrinksToOnePathOfOneToken) {
  const PathVerifierOf<wrong::BonusFromDraft> wrong_bonus(Kind::mutant);
  const auto found = shrunk_failure(wrong_bonus, path_instances({.most_drafts = 1}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->shape, (TreeShape{.drafts = 1, .length = 1})) << found->text();
  EXPECT_EQ(found->vocabulary(), 2) << found->text();
  EXPECT_EQ(found->rows.size(), 1u) << found->text();
  // The smallest rows that differ are (1 1) and (1 0). One is p, the other q, so their weights sum to 3.
  EXPECT_EQ(total_weight(*found), 3) << found->text();
}

TEST(ArbitraryPathInstance, AForgottenCarryShrinksToPathsOfTwoTokens) {
  const auto found =
      shrunk_failure(*path_registry().verifier("greedy_block_without_carry"), rc::gen::arbitrary<PathInstance>());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->shape, (TreeShape{.drafts = 1, .length = 2})) << found->text();
  EXPECT_EQ(found->vocabulary(), 2) << found->text();
  EXPECT_EQ(found->rows.size(), 1u) << found->text();
  EXPECT_LE(total_weight(*found), 6) << found->text();
}

}  // namespace
}  // namespace draftproof
