// Tests of simulated steps: captured trees give the means that another program computed for their paths, the number of
// threads does not matter, and an episode ends at the model's context limit.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/bench/studies/records.hpp>
#include <draftproof/captures/tree_capture.hpp>
#include <draftproof/properties/survey/path_simulation.hpp>
#include <draftproof/tests/support/small_models.hpp>

namespace draftproof {
namespace {

const std::string data = std::string(DRAFTPROOF_SOURCE_DIR) + "/data/";

/// E[tau | path] of token and block verification, averaged over the stored paths.
struct Expected {
  double token = 0, block = 0;
};

Expected expected(const TreeCapture& trees) {
  Expected mean;
  const double paths = static_cast<double>(trees.conditionals() * trees.paths());
  const std::size_t length = trees.length();
  for (std::size_t c = 0; c < trees.conditionals(); ++c)
    for (std::size_t k = 0; k < trees.paths(); ++k) {
      double kept = 1;
      std::vector<double> clipped{1}, success{1};
      for (std::size_t i = 0; i < length; ++i) {
        const auto p = trees.rows().target(trees.node(c, k, i));
        const auto q = trees.rows().proposal("draft", trees.node(c, k, i));
        const std::size_t x = trees.symbol(c, k, i);
        if (i > 0) {
          double excess = 0;
          for (std::size_t y = 0; y < p.size(); ++y) excess += std::max(0.0, clipped[i] * p[y] - q[y]);
          success.push_back(clipped[i] < 1 ? excess / (excess + (1 - clipped[i])) : 1);
        }
        mean.token += (kept *= std::min(1.0, p[x] / q[x])) / paths;
        clipped.push_back(std::min(1.0, clipped[i] * (p[x] / q[x])));
      }
      success.push_back(clipped[length]);
      double all_failed = 1;  // probability that the tests of all longer prefixes fail
      for (std::size_t i = length; i > 0; --i) {
        mean.block += all_failed * success[i] * static_cast<double>(i) / paths;
        all_failed *= 1 - success[i];
      }
    }
  return mean;
}

StepTally simulated(std::string_view scheme, const PathSource& source, std::uint64_t trials, int length, int threads,
                    int iterations = 1, int drafts = 1) {
  const StepRun run{.verifier = small::verifier(scheme),
                    .drafter = small::drafter("iid_paths"),
                    .shape = {.drafts = drafts, .length = length},
                    .seed = 7,
                    .iterations = iterations};
  return simulate_paths(run, source, {.trials = trials, .threads = threads, .shard = 8});
}

TEST(PathSimulation, CapturedTreesHaveTheirReferenceMeans) {
  const Expected mean = expected(TreeCapture::open(data + "stories512_trees.npz"));
  EXPECT_TRUE(Reference{"3.8731"}.agrees(mean.token)) << mean.token;
  EXPECT_TRUE(Reference{"4.4145"}.agrees(mean.block)) << mean.block;

  // Each of the 192 stored paths is used a hundred times, so the error comes only from the trials, while the standard
  // error also includes the spread between paths. An error of five standard errors has probability below 1e-6.
  const auto source = PathSource::open(data + "stories512_trees.npz", {});
  const StepTally token = simulated("token_path", *source, 19'200, 8, 2);
  const StepTally block = simulated("block", *source, 19'200, 8, 2);
  // The expected means are those of the captured paths, so the error is that of the simulated steps alone.
  EXPECT_NEAR(token.mean_accepted(), mean.token, 5 * token.error_of_trials());
  EXPECT_NEAR(block.mean_accepted(), mean.block, 5 * block.error_of_trials());
  EXPECT_LT(token.error_of_trials(), 0.03);
  EXPECT_EQ(token.impossible + block.impossible, 0u);
}

void same_for_any_threads(const PathSource& source, std::uint64_t trials, int iterations) {
  for (const std::string_view scheme : {"greedy_block", "block", "traversal"}) {
    const int drafts = scheme == "traversal" ? 2 : 1;
    const StepTally one = simulated(scheme, source, trials, 4, 1, iterations, drafts);
    for (const int threads : {2, 7}) {
      const StepTally many = simulated(scheme, source, trials, 4, threads, iterations, drafts);
      EXPECT_EQ(many.accepted, one.accepted) << scheme;
      EXPECT_EQ(many.trial_tokens_squared, one.trial_tokens_squared) << scheme;
      EXPECT_EQ(many.steps, one.steps) << scheme;
    }
  }
}

TEST(PathSimulation, SameForAnyThreadsOnCapturedTrees) {
  same_for_any_threads(*PathSource::open(data + "stories512_trees.npz", {}), 500, 1);
}
TEST(PathSimulation, SameForAnyThreadsOnRows) {
  path_registry();  // registers the families of rows
  same_for_any_threads(*PathSource::open("zipf:vocabulary=20,positions=5", {}), 500, 4);
}
TEST(PathSimulation, SameForAnyThreadsOnALiveModel) {
  same_for_any_threads(*PathSource::open(data + "stories260k.bin:q4", {}), 17, 2);
}

// Steps of one context share its captured paths, so more steps do not make the error smaller.
TEST(PathSimulation, TheErrorOfCapturedTreesIsThatOfTheirContexts) {
  StepTally two;
  two.trials = two.steps = 20;
  two.trial_tokens = 40;
  two.context_trials = {10, 10};
  two.context_tokens = {10, 30};
  EXPECT_EQ(two.standard_error(), 1) << "the error of the mean of 1 and 3";
  two.trials = two.steps = 49;  // 49 * (1 / 49.0) is not 1
  two.trial_tokens = 1;
  two.context_trials = {49};
  two.context_tokens = {1};
  EXPECT_TRUE(std::isnan(two.standard_error()));
  const auto source = PathSource::open(data + "stories512_trees.npz", {});
  const double few = simulated("token_path", *source, 1 << 12, 4, 1).standard_error();
  const double many = simulated("token_path", *source, 1 << 15, 4, 2).standard_error();
  EXPECT_NEAR(many, few, 0.2 * few);
}

// The model's context has 512 tokens, of which the prompt takes 8 to 71, so the episode ends before 200 iterations.
TEST(PathSimulation, EpisodesEndWithTheModel) {
  const auto source = PathSource::open(data + "stories260k.bin:q4", {});
  const StepTally tally = simulated("block", *source, 1, 8, 1, 200);
  EXPECT_EQ(tally.trials, 1u);
  EXPECT_LT(tally.steps, 200u);
  EXPECT_LE(tally.trial_tokens + tally.steps, 504u);
  // The episode ends only if the context has no room for another path of 8 tokens and one more token.
  EXPECT_GE(tally.trial_tokens + tally.steps, 512u - 71u - 8u - 1u);
}

}  // namespace
}  // namespace draftproof
