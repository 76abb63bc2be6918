// Tests ladder verifiers on rows in which tokens have equal ratios and rows whose levels are rounded. Tokens with equal
// ratios are ordered by their ids, so the distribution of a step depends on ids; and rounding of a level must not make
// a token with p = 0 accepted.
#include <gtest/gtest.h>

#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/prover/prover.hpp>

namespace draftproof {
namespace {

const char* const ladders[]{"ladder", "ladder_independent", "ladder_wor"};

template <class P>
void expect_none_failed(const P& proof, const std::string& text) {
  for (const auto& finding : proof.findings)
    EXPECT_NE(finding.status, Status::failed) << text << ": " << finding.property << ": " << finding.evidence;
}

void expect_passed_on_paths(std::string_view name, std::string_view distribution, const std::string& text) {
  const AnyPathVerifier* verifier = path_registry().verifier(name);
  ASSERT_TRUE(verifier) << name;
  expect_none_failed(
      prove_on(*verifier, *path_registry().drafter(distribution), PathInstance::parse(text), {.tier = std::nullopt}),
      std::string(name) + " " + text);
}

void expect_passed(std::string_view name, std::string_view distribution, const std::string& text) {
  expect_none_failed(prove_on(*registry().verifier(name), *registry().drafter(distribution), Instance::parse(text),
                              {.tier = std::nullopt}),
                     std::string(name) + " " + text);
}

TEST(LadderEdges, DeclareThatTiesAreBrokenById) {
  for (const std::string_view name : ladders) EXPECT_TRUE(registry().verifier(name)->info().ranks_tokens) << name;
  for (const std::string_view name : {"ladder_tree", "ladder_wor_tree", "ladder_block", "ladder_block_wor"})
    EXPECT_TRUE(path_registry().verifier(name)->info().ranks_tokens) << name;
}

TEST(LadderEdges, TiedTokensHoldWhatIsDeclared) {
  for (const std::string_view distribution : {"iid_paths", "delayed_paths"})
    for (const std::string_view name : {"ladder_tree", "ladder_block"})
      expect_passed_on_paths(name, distribution, "L=1 K=2 [] p=(1 1 0)/2 q=(1 1 1)/3");
  for (const std::string_view name : {"ladder_wor_tree", "ladder_block_wor"})
    expect_passed_on_paths(name, "without_replacement_tree", "L=1 K=2 [] p=(1 1 0)/2 q=(1 1 1)/3");
  // The verifiers of one position are checked on the rows used above for paths.
  expect_passed("ladder", "iid", "p=(1 1 0)/2 q=(1 1 1)/3 K=2");
  expect_passed("ladder_wor", "without_replacement", "p=(1 1 0)/2 q=(1 1 1)/3 K=2");
  expect_passed("ladder_independent", "independent", "p=(1 1 0)/2 q=(1 1 1)/3 q=(2 2 1)/5 K=2");
}

TEST(LadderEdges, NoRoundedLevelAcceptsATokenWithoutMass) {
  expect_passed_on_paths("ladder_block_wor", "without_replacement_tree", "L=1 K=2 [] p=(1 1 0)/2 q=(32 40 31)/103");
  for (int a = 20; a < 80; a += 7)
    for (int b = 21; b < 80; b += 5) {
      const std::string q = "(" + std::to_string(a) + " " + std::to_string(b) + " 31)/" + std::to_string(a + b + 31);
      for (const std::string_view name : {"ladder_wor_tree", "ladder_block_wor"})
        expect_passed_on_paths(name, "without_replacement_tree", "L=1 K=2 [] p=(1 1 0)/2 q=" + q);
      expect_passed("ladder_wor", "without_replacement", "p=(1 1 0)/2 q=" + q + " K=2");
      expect_passed("ladder_wor", "without_replacement", "p=(1 1 0)/2 q=" + q + " K=3");
    }
}

TEST(LadderEdges, NoRoundedDistributionAcceptsATokenWithoutMassAmongManyDrafts) {
  // All six drafts are token 2 with probability 1001^-6, which is so small that it is lost when the level is rounded.
  for (const std::string_view name : {"ladder_tree", "ladder_block"})
    expect_passed_on_paths(name, "iid_paths", "L=1 K=6 [] p=(1 1 0)/2 q=(500 500 1)/1001");
  expect_passed("ladder", "iid", "p=(1 1 0)/2 q=(500 500 1)/1001 K=6");
}

}  // namespace
}  // namespace draftproof
