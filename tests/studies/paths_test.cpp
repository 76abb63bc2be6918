// Tests of schemes that are compared on the same drafts: each gets the same results as in a separate simulation, and
// the errors of differences are errors of paired trials. Also tests that recursions over clipped products equal an
// enumeration of every branch, on random chains.
#include <atomic>
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/bench/studies/paired_paths.hpp>
#include <draftproof/bench/studies/small_models.hpp>
#include <draftproof/properties/survey/path_simulation.hpp>
#include <draftproof/tests/support/small_models.hpp>

namespace draftproof {
namespace {

std::unique_ptr<PathSource> open_rows() {
  path_registry();  // registers the families of rows too
  return PathSource::open("zipf:vocabulary=12,positions=6", {});
}

using Candidates = std::vector<PathCandidate>;

Candidates on(int drafts, int length, const std::vector<std::string>& schemes) {
  Candidates all;
  for (const std::string& scheme : schemes)
    all.push_back({&small::verifier(scheme), {.drafts = drafts, .length = length}});
  return all;
}

/// Returns the same candidates, but each draws its drafts itself instead of sharing the drafts.
Candidates on_own(const Candidates& shared) {
  Candidates all = shared;
  for (PathCandidate& candidate : all) candidate.drafter = &small::drafter("iid_paths");
  return all;
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
  for (const Candidates& candidates : {on(3, 4, schemes), on_own(on(3, 4, schemes))}) {
    const PairedTally paired = compare_paths(*source, candidates, 2000, 1, on_threads(2), ignore);
    for (std::size_t s = 0; s < schemes.size(); ++s) {
      const StepTally alone = simulate_paths({.verifier = small::verifier(schemes[s]),
                                              .drafter = small::drafter("iid_paths"),
                                              .shape = {.drafts = 3, .length = 4},
                                              .seed = 3},
                                             *source, {.trials = 2000, .threads = 2});
      EXPECT_EQ(paired.accepted[s], alone.trial_tokens) << schemes[s];
      EXPECT_DOUBLE_EQ(paired.standard_error(s), alone.standard_error()) << schemes[s];
    }
  }
}

// Each trial has `coins` verifications. Verification c of trial n uses the random bits of trial n * coins + c, so that
// no two verifications share random bits.
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
  const auto tally = compare_paths(*source, on(2, 3, {"traversal"}), trials, coins, on_threads(2), ignore);
  EXPECT_EQ(tally.accepted[0], accepted);
  EXPECT_EQ(tally.products[0], squares);
}

TEST(PairedPaths, SameForAnyThreads) {
  const auto source = open_rows();
  for (const Candidates& candidates : {on(1, 6, {"block", "token_path"}), on(2, 3, {"traversal", "k_seq_tree"})}) {
    const PairedTally one = compare_paths(*source, candidates, 501, 3, on_threads(1), ignore);
    for (const int threads : {2, 7}) {
      const PairedTally many = compare_paths(*source, candidates, 501, 3, on_threads(threads), ignore);
      EXPECT_EQ(many.trials, 501u);
      EXPECT_EQ(many.accepted, one.accepted);
      EXPECT_EQ(many.products, one.products);
      EXPECT_EQ(many.longer, one.longer);
    }
    EXPECT_NE(compare_paths(*source, candidates, 501, 1, on_threads(1), ignore).accepted, one.accepted);
  }
}

TEST(PairedPaths, StopsWhenTold) {
  const auto source = open_rows();
  const std::atomic<bool> stop{true};
  StudyOptions options = on_threads(2);
  options.stop = &stop;
  EXPECT_LT(compare_paths(*source, on(1, 2, {"block"}), 100, 1, options, ignore).trials, 100u);
}

// Standard errors are computed from the accepted tokens of each trial and their squares. The difference between a
// scheme and itself is 0 with error 0.
TEST(PairedPaths, ErrorsAreThoseOfTheTrials) {
  const auto source = open_rows();
  const PairedTally tally =
      compare_paths(*source, on(1, 4, {"block", "token_path", "block"}), 1000, 2, on_threads(2), ignore);
  EXPECT_EQ(tally.difference(0, 2), 0);
  EXPECT_EQ(tally.difference_error(0, 2), 0);
  EXPECT_EQ(tally.times_longer(0, 2) + tally.times_longer(2, 0), 0u);
  EXPECT_DOUBLE_EQ(tally.difference(0, 1), tally.mean(0) - tally.mean(1));
  const double apart = std::hypot(tally.standard_error(0), tally.standard_error(1));
  EXPECT_GT(tally.difference_error(0, 1), 0);
  EXPECT_LT(tally.difference_error(0, 1), apart) << "same drafts, same coins: less than if they were independent";
  // In each of 1000 trials two verifications accept at most 4 tokens each, so the squared sum of a trial is at most
  // 8^2.
  EXPECT_LE(tally.product(0, 0), 1000u * 64u);
  EXPECT_GT(tally.standard_error(0), 0.01);
}

ChainModel random_chain(int seed, int vocabulary) {
  InstanceRng dice(11, static_cast<std::uint64_t>(seed));
  const auto row = [&] {
    std::vector<int> weights(static_cast<std::size_t>(vocabulary));
    int total = 0;
    while (total == 0)
      for (int& weight : weights) total += weight = dice.between(0, 4);
    return normalised(weights);
  };
  ChainModel chain;
  for (int state = 0; state < (seed % 2 == 0 ? 1 : vocabulary); ++state) {
    chain.target.push_back(row());
    chain.proposal.push_back(row());
  }
  return chain;
}

TEST(ChainRecursions, AreWhatAllBranchesGive) {
  for (int seed = 0; seed < 12; ++seed) {
    const ChainModel chain = random_chain(seed, 2 + seed % 3);
    const AcceptedByLength accepted = accepted_by_length(chain, 3);
    for (int length = 1; length <= 3; ++length) {
      const auto model = chain.unrolled(length);
      const TreeShape shape{.drafts = 1, .length = length};
      const auto i = static_cast<std::size_t>(length - 1);
      EXPECT_EQ(small::distribution("token_path", "iid_paths", model, shape).mean_accepted(), accepted.token[i])
          << seed;
      EXPECT_EQ(small::distribution("block", "iid_paths", model, shape).mean_accepted(), accepted.block[i]) << seed;
    }
  }
}

// The published two-token example accepts 10/9 tokens by token verification and 11/9 by block verification.
TEST(ChainRecursions, ThePublishedExample) {
  const ChainModel example{{{{1, 3}, {2, 3}}}, {{{2, 3}, {1, 3}}}};
  const AcceptedByLength accepted = accepted_by_length(example, 2);
  EXPECT_EQ(accepted.token.back(), Rational(10, 9));
  EXPECT_EQ(accepted.block.back(), Rational(11, 9));
}

}  // namespace
}  // namespace draftproof
