// Monte Carlo simulation of iterations: a tree is drafted and verified, and the next iteration starts after the
// emitted tokens. Trial n is a function of (seed, n) and counts are integers, so the result does not depend on
// threads.
//
//   tau    accepted[i]   number of steps with i accepted tokens
//   BE     tokens / steps: block efficiency, emitted tokens per target call with the extra token; a ratio of sums
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include <draftproof/captures/path_source.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>
#include <draftproof/sim/trials/run_trials.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof {

/// A simulation to run. Refers to the verifier and the drafter.
struct StepRun {
  const AnyPathVerifier& verifier;
  const AnyTreeDrafter& drafter;  ///< not used if the source stores trees
  TreeShape shape{};
  std::uint64_t seed = 1;
  int iterations = 1;  ///< consecutive iterations of a trial
};

/// Counts over all trials. The operator += adds each counter.
struct StepTally {
  std::uint64_t trials = 0;
  std::uint64_t steps = 0;
  std::uint64_t impossible = 0;                               ///< steps that reached a branch of probability zero
  std::array<std::uint64_t, max_path_length + 1> accepted{};  ///< steps by number of accepted tokens
  std::uint64_t trial_tokens = 0, trial_tokens_squared = 0;   ///< accepted tokens per trial, summed over trials
  /// Of stored trees, for each context: number of trials, and accepted tokens. Empty if no trees are stored.
  std::vector<std::uint64_t> context_trials{}, context_tokens{};

  static auto fields(auto& t) {
    return std::tie(t.trials, t.steps, t.impossible, t.trial_tokens, t.trial_tokens_squared, t.accepted,
                    t.context_trials, t.context_tokens);
  }
  /// Returns zeros, with an entry for each context if the source stores trees.
  static StepTally none(const PathSource& source);
  /// Requires that both have equally many contexts.
  StepTally& operator+=(const StepTally& other);

  /// Returns E[tau]: mean number of accepted tokens per step.
  double mean_accepted() const {
    return steps == 0 ? 0 : static_cast<double>(trial_tokens) / static_cast<double>(steps);
  }
  /// Returns the mean number of emitted tokens per target call.
  double block_efficiency() const { return mean_accepted() + 1; }
  /// Returns the standard error of mean_accepted(), that of trials unless trees are stored. Trials of stored trees that
  /// begin in one context share its paths, so their error is that of the ratio of two sums over contexts (cluster
  /// sampling): it includes the draw of the contexts and of their paths; NaN for fewer than two contexts.
  double standard_error() const;
  /// Returns the standard error of mean_accepted() from the variance between trials, as if they were independent; NaN
  /// for fewer than two. For stored trees it is the error of the mean over the stored trees themselves.
  double error_of_trials() const;
  /// Returns the share of steps with at least `tokens` accepted tokens.
  double at_least(int tokens) const;
};

/// Runs as many trials as the budget has, with numbers from `first` on. Throws: std::invalid_argument if the verifier
/// cannot be simulated.
StepTally simulate_paths(const StepRun& run, const PathSource& source, const TrialBudget& budget,
                         std::uint64_t first = 0);

}  // namespace draftproof
