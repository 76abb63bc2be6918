// Schemes compared on the same drafts: each gives the results of its own simulation, threads do not matter, and
// errors of differences are those of the paired trials.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/properties/survey/path_simulation.hpp>
#include <draftproof/studies/paired_paths.hpp>
#include <draftproof/tests/support/small_models.hpp>

namespace draftproof {
namespace {

std::unique_ptr<PathSource> open_rows() {
  path_registry();  // families are found with everything else
  return PathSource::open("zipf:vocabulary=12,positions=6", {});
}

PathCell cell(int drafts, int length, const std::vector<std::string>& schemes) {
  PathCell made{.drafts = drafts, .length = length, .schemes = {}};
  for (const std::string& scheme : schemes) made.schemes.push_back(&small::verifier(scheme));
  return made;
}

StudyOptions on_threads(int threads) {
  StudyOptions options;
  options.seed = 3;
  options.threads = threads;
  return options;
}

void ignore(std::uint64_t) {}

TEST(PairedPaths, AreWhatSimulatingAloneGives) {
  const auto source = open_rows();
  const std::vector<std::string> schemes{"traversal", "greedy_multipath_block", "recursive_rejection_tree"};
  const PairedResult paired =
      compare_paths(*source, std::vector{cell(3, 4, schemes)}, 2000, 1, on_threads(2), ignore);
  ASSERT_TRUE(paired.complete);
  for (std::size_t s = 0; s < schemes.size(); ++s) {
    const StepTally alone = simulate_paths({.verifier = small::verifier(schemes[s]),
                                            .drafter = small::drafter("iid_paths"),
                                            .shape = {.drafts = 3, .length = 4},
                                            .seed = 3},
                                           *source, {.trials = 2000, .threads = 2});
    EXPECT_EQ(paired.cells[0].accepted[s], alone.trial_tokens) << schemes[s];
    EXPECT_DOUBLE_EQ(paired.cells[0].standard_error(s), alone.standard_error()) << schemes[s];
  }
}

// Coin c of trial n is that of address n coins + c, so no two verifications share their randomness.
TEST(PairedPaths, CoinsAreNotShared) {
  constexpr std::uint64_t trials = 300, coins = 3, seed = 3;
  const auto source = open_rows();
  const auto conditionals = source->open();
  const TreeShape shape{.drafts = 2, .length = 3};
  const auto decider = small::verifier("traversal").simulate_on(*conditionals, shape);
  std::uint64_t accepted = 0, squares = 0;
  DraftTree tree;
  for (std::uint64_t n = 0; n < trials; ++n) {
    tree.clear(conditionals->start(n));
    Philox draft(seed, n, Philox::Role::draft);
    small::drafter("iid_paths").draw(*conditionals, shape, draft, tree);
    std::uint64_t sum = 0;
    for (std::uint64_t coin = 0; coin < coins; ++coin) {
      Philox verify(seed, n * coins + coin, Philox::Role::verify);
      sum += static_cast<std::uint64_t>(tree.depth(decider->decide(tree, {}, verify).node));
    }
    accepted += sum;
    squares += sum * sum;
  }
  const auto tally =
      compare_paths(*source, std::vector{cell(2, 3, {"traversal"})}, trials, coins, on_threads(2), ignore).cells[0];
  EXPECT_EQ(tally.accepted[0], accepted);
  EXPECT_EQ(tally.own_squares[0], squares);
}

TEST(PairedPaths, SameForAnyThreads) {
  const auto source = open_rows();
  const std::vector cells{cell(1, 6, {"block", "token_path"}), cell(2, 3, {"traversal", "k_seq_tree"})};
  const PairedResult one = compare_paths(*source, cells, 501, 3, on_threads(1), ignore);
  for (const int threads : {2, 7}) {
    const PairedResult many = compare_paths(*source, cells, 501, 3, on_threads(threads), ignore);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      EXPECT_EQ(many.cells[i].trials, 501u);
      EXPECT_EQ(many.cells[i].accepted, one.cells[i].accepted);
      EXPECT_EQ(many.cells[i].squares, one.cells[i].squares);
      EXPECT_EQ(many.cells[i].longer, one.cells[i].longer);
    }
  }
  EXPECT_NE(compare_paths(*source, cells, 501, 1, on_threads(1), ignore).cells[0].accepted, one.cells[0].accepted);
}

// One coin per trial: tau and its square determine everything, and a scheme's difference from itself is 0.
TEST(PairedPaths, ErrorsAreThoseOfTheTrials) {
  const auto source = open_rows();
  const std::vector cells{cell(1, 4, {"block", "token_path", "block"})};
  const PairedTally tally = compare_paths(*source, cells, 1000, 2, on_threads(2), ignore).cells[0];
  EXPECT_EQ(tally.difference(0, 2), 0);
  EXPECT_EQ(tally.difference_error(0, 2), 0);
  EXPECT_EQ(tally.times_longer(0, 2) + tally.times_longer(2, 0), 0u);
  EXPECT_DOUBLE_EQ(tally.difference(0, 1), tally.mean(0) - tally.mean(1));
  const double apart = std::hypot(tally.standard_error(0), tally.standard_error(1));
  EXPECT_GT(tally.difference_error(0, 1), 0);
  EXPECT_LT(tally.difference_error(0, 1), apart) << "same drafts, same coins: less than if they were independent";
  // 2000 coins of taus from 0 to 4.
  EXPECT_LE(tally.own_squares[0], 1000u * 64u);
  EXPECT_GT(tally.standard_error(0), 0.01);
}

TEST(PairedPaths, StopsWhenTold) {
  const auto source = open_rows();
  const std::atomic<bool> stop{true};
  StudyOptions options = on_threads(2);
  options.stop = &stop;
  EXPECT_FALSE(compare_paths(*source, std::vector{cell(1, 2, {"block"})}, 100, 1, options, ignore).complete);
}

}  // namespace
}  // namespace draftproof
