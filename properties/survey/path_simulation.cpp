#include <draftproof/properties/survey/path_simulation.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include <draftproof/sim/trials/run_trials.hpp>

namespace draftproof {

namespace {

/// The state of one thread.
class Worker {
 public:
  Worker(const StepRun& run, const PathSource& source)
      : run_{run}, conditionals_{source.open()}, decider_{run.verifier.simulate_on(*conditionals_, run.shape)} {
    if (!decider_)
      throw std::invalid_argument(std::string(run.verifier.info().name) +
                                  " cannot be simulated: " + std::string(run.verifier.info().unsupported.simulate));
    if (run.verifier.stateful()) process_ = run.verifier.process_on(*conditionals_);
  }

  void trial(std::uint64_t n, StepTally& tally) {
    int context = conditionals_->start(n);
    VerifierState<double> carry;
    std::uint64_t accepted = 0;
    for (int i = 0; i < run_.iterations && conditionals_->room(context) >= run_.shape.length; ++i) {
      const std::uint64_t address = n * static_cast<std::uint64_t>(run_.iterations) + static_cast<std::uint64_t>(i);
      const DraftTree* tree = conditionals_->tree(n, run_.shape);
      if (!tree) {
        drafted_.clear(context);
        Philox draft(run_.seed, address, Philox::Role::draft);
        run_.drafter.draw(*conditionals_, run_.shape, draft, drafted_);
        tree = &drafted_;
      }
      Philox verify(run_.seed, address, Philox::Role::verify);
      const StepOutput step = decider_->decide(*tree, carry, verify);
      ++tally.steps;
      const int depth = tree->depth(step.node);
      ++tally.accepted[static_cast<std::size_t>(depth)];
      accepted += static_cast<std::uint64_t>(depth);
      if (step.extra.token < 0) {
        ++tally.impossible;
        break;
      }
      if (i + 1 == run_.iterations) break;
      if (process_) carry = process_->after(*tree, carry, step);
      context = conditionals_->next(tree->context(step.node), step.extra.token);
      if (context == StepContexts::no_context) break;
    }
    ++tally.trials;
    tally.trial_tokens += accepted;
    tally.trial_tokens_squared += accepted * accepted;
    if (tally.context_trials.empty()) return;
    const std::size_t start = n % tally.context_trials.size();
    ++tally.context_trials[start];
    tally.context_tokens[start] += accepted;
  }

 private:
  const StepRun& run_;
  std::unique_ptr<StepContexts> conditionals_;
  PathDeciderPtr<RatioTable, Philox> decider_;
  std::unique_ptr<PathProcess<RatioTable>> process_;
  DraftTree drafted_;
};

}  // namespace

StepTally StepTally::none(const PathSource& source) {
  StepTally tally;
  if (!source.stored_trees()) return tally;
  // Trial n begins in context n mod C.
  tally.context_trials.resize(source.stored_paths() / static_cast<std::uint64_t>(source.most_paths()));
  tally.context_tokens.resize(tally.context_trials.size());
  return tally;
}

StepTally& StepTally::operator+=(const StepTally& other) {
  trials += other.trials;
  steps += other.steps;
  impossible += other.impossible;
  for (std::size_t i = 0; i < accepted.size(); ++i) accepted[i] += other.accepted[i];
  trial_tokens += other.trial_tokens;
  trial_tokens_squared += other.trial_tokens_squared;
  for (std::size_t c = 0; c < context_trials.size(); ++c) {
    context_trials[c] += other.context_trials[c];
    context_tokens[c] += other.context_tokens[c];
  }
  return *this;
}

double StepTally::standard_error() const {
  if (context_trials.empty()) return error_of_trials();
  double contexts = 0, squares = 0;
  for (std::size_t c = 0; c < context_trials.size(); ++c) {
    const auto n = static_cast<double>(context_trials[c]);
    const double off = static_cast<double>(context_tokens[c]) - n * mean_accepted();
    contexts += n > 0;
    squares += off * off;
  }
  if (contexts < 2) return std::numeric_limits<double>::quiet_NaN();
  return std::sqrt(squares * contexts / (contexts - 1)) / static_cast<double>(steps);
}

double StepTally::error_of_trials() const {
  if (trials < 2 || steps == 0) return std::numeric_limits<double>::quiet_NaN();
  const double n = static_cast<double>(trials), mean = static_cast<double>(trial_tokens) / n;
  const double variance = std::max(0.0, static_cast<double>(trial_tokens_squared) / n - mean * mean) * n / (n - 1);
  return std::sqrt(variance / n) * n / static_cast<double>(steps);
}

double StepTally::at_least(int tokens) const {
  std::uint64_t count = 0;
  for (std::size_t i = static_cast<std::size_t>(tokens); i < accepted.size(); ++i) count += accepted[i];
  return steps == 0 ? 0 : static_cast<double>(count) / static_cast<double>(steps);
}

StepTally simulate_paths(const StepRun& run, const PathSource& source, const TrialBudget& budget,
                         std::uint64_t first_of_all) {
  TrialBudget own = budget;
  own.threads = threads_of(budget.threads);
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < own.threads; ++i) workers.push_back(std::make_unique<Worker>(run, source));
  return run_trials(own, StepTally::none(source),
                    [&workers, first_of_all](int worker, std::uint64_t first, std::uint64_t count, StepTally& tally) {
                      for (std::uint64_t n = first_of_all + first; n < first_of_all + first + count; ++n)
                        workers[static_cast<std::size_t>(worker)]->trial(n, tally);
                    });
}

}  // namespace draftproof
