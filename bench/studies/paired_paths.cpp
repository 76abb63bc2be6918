#include <draftproof/bench/studies/paired_paths.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/bench/studies/positions.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/sim/trials/run_trials.hpp>

namespace draftproof {

namespace {

/// The state of one thread.
class Worker {
 public:
  Worker(const PathSource& source, std::span<const PathCandidate> candidates, std::uint64_t coins, std::uint64_t seed)
      : conditionals_{source.open()}, candidates_{candidates}, coins_{coins}, seed_{seed} {
    for (const PathCandidate& candidate : candidates) {
      deciders_.push_back(candidate.scheme->simulate_on(*conditionals_, candidate.shape));
      if (!deciders_.back())
        throw std::invalid_argument(std::string(candidate.scheme->info().name) + " cannot be simulated");
      if (candidate.drafter) continue;
      lengths_.resize(std::max(lengths_.size(), static_cast<std::size_t>(candidate.shape.drafts)), 0);
      for (std::size_t k = 0; k < static_cast<std::size_t>(candidate.shape.drafts); ++k)
        lengths_[k] = std::max(lengths_[k], candidate.shape.length);
    }
  }

  void trial(std::uint64_t n, PairedTally& tally) {
    const int start = conditionals_->start(n);
    draw_paths(n, start);
    taus_.clear();
    for (std::size_t s = 0; s < candidates_.size(); ++s) {
      if (s == 0 || !same_drafts(candidates_[s - 1], candidates_[s])) grow(candidates_[s], n, start);
      for (std::uint64_t coin = 0; coin < coins_; ++coin) {
        Philox words(seed_, n * coins_ + coin, Philox::Role::verify);
        const StepOutput step = deciders_[s]->decide(tree_, {}, words);
        taus_.push_back(static_cast<std::uint64_t>(tree_.depth(step.node)));
        tally.impossible[s] += step.extra.token < 0;
      }
    }
    count(tally);
  }

 private:
  /// Draws the paths that all candidates share, token by token, up to the greatest length of any candidate.
  void draw_paths(std::uint64_t n, int start) {
    paths_.resize(lengths_.size());
    Philox draft(seed_, n, Philox::Role::draft);
    for (std::size_t k = 0; k < paths_.size(); ++k) {
      paths_[k].clear();
      int context = start;
      for (int i = 0; i < lengths_[k]; ++i) {
        const Token x = draft.pick(conditionals_->distributions(context).row(0));
        context = conditionals_->next(context, x);
        if (context == StepContexts::no_context) throw std::invalid_argument("paths longer than the source");
        paths_[k].push_back({x, context});
      }
    }
  }

  static bool same_drafts(const PathCandidate& a, const PathCandidate& b) {
    return a.drafter == b.drafter && a.shape == b.shape;
  }

  void grow(const PathCandidate& candidate, std::uint64_t n, int start) {
    tree_.clear(start);
    if (candidate.drafter) {
      Philox draft(seed_, n, Philox::Role::draft);
      candidate.drafter->draw(*conditionals_, candidate.shape, draft, tree_);
      return;
    }
    for (std::size_t k = 0; k < static_cast<std::size_t>(candidate.shape.drafts); ++k) {
      int u = DraftTree::root;
      for (std::size_t i = 0; i < static_cast<std::size_t>(candidate.shape.length); ++i)
        u = tree_.draw(u, paths_[k][i].token, paths_[k][i].context);
    }
  }

  void count(PairedTally& tally) const {
    ++tally.trials;
    const std::size_t n = candidates_.size();
    std::vector<std::uint64_t> sums(n);
    for (std::size_t i = 0; i < taus_.size(); ++i) sums[i / coins_] += taus_[i];
    for (std::size_t s = 0; s < n; ++s) {
      tally.accepted[s] += sums[s];
      for (std::size_t t = 0; t < n; ++t) {
        tally.products[s * n + t] += sums[s] * sums[t];
        for (std::size_t coin = 0; coin < coins_; ++coin)
          tally.longer[s * n + t] += taus_[s * coins_ + coin] > taus_[t * coins_ + coin];
      }
    }
  }

  struct Drawn {
    Token token;
    int context;
  };

  std::unique_ptr<StepContexts> conditionals_;
  std::span<const PathCandidate> candidates_;
  std::uint64_t coins_, seed_;
  std::vector<PathDeciderPtr<RatioTable, Philox>> deciders_;
  std::vector<int> lengths_;  // length of path k
  std::vector<std::vector<Drawn>> paths_;
  std::vector<std::uint64_t> taus_;  // accepted tokens of one trial, by candidate and coin
  DraftTree tree_;
};

/// Returns the standard error of the mean of n numbers with this sum and sum of squares.
double error_of_mean(double n, double sum, double squares) {
  if (n < 2) return 0;
  const double mean = sum / n;
  return std::sqrt(std::max(0.0, squares / n - mean * mean) / (n - 1));
}

}  // namespace

int nodes_of(const TreeShape& shape) {
  if (shape.nodes == 0 && shape.branching.empty()) return shape.drafts * shape.length;
  const int most = shape.nodes > 0 ? shape.nodes : 1 << 20;
  int level = 1, all = 0;
  for (int depth = 0; depth < shape.length && all < most; ++depth) all += level *= shape.children_at(depth);
  return std::min(all, most);
}

std::string text_of(const TreeShape& shape) {
  if (shape.nodes > 0) return fmt::format("{} children, {} fixed, pruned", shape.drafts, shape.fixed);
  if (shape.branching.empty()) return fmt::format("{} paths of {}", shape.drafts, shape.length);
  return fmt::format("{}{}", fmt::join(shape.branching, " "),
                     shape.fixed == 0 ? "" : fmt::format(", {} fixed", shape.fixed));
}

std::vector<std::size_t> most_accepted_first(const PairedTally& tally) {
  std::vector<std::size_t> order(tally.accepted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return tally.accepted[i] > tally.accepted[j]; });
  return order;
}

std::vector<Field> shape_fields(const PathCandidate& candidate, const PairedTally& tally, std::size_t i,
                                std::size_t base) {
  const double difference = tally.difference(i, base), error = tally.difference_error(i, base);
  return {word("scheme", "verifier", candidate.scheme->info().name),
          word("shape", "shape", text_of(candidate.shape)),
          number("nodes", "nodes", nodes_of(candidate.shape)),
          number("accepted", "mean_accepted", tally.mean(i), "{:.4f}"),
          datum("difference", difference),
          datum("standard_error", error),
          cell("against i.i.d.", i == base ? "-" : fmt::format("{:+.4f} ±{:.4f}", difference, error))};
}

PairedTally::PairedTally(std::size_t candidates, std::uint64_t coins_of_a_trial)
    : coins(coins_of_a_trial),
      accepted(candidates),
      impossible(candidates),
      products(candidates * candidates),
      longer(candidates * candidates) {}

PairedTally& PairedTally::operator+=(const PairedTally& other) {
  trials += other.trials;
  const auto add = [](std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  add(accepted, other.accepted);
  add(impossible, other.impossible);
  add(products, other.products);
  add(longer, other.longer);
  return *this;
}

double PairedTally::mean(std::size_t s) const {
  return trials == 0 ? 0 : static_cast<double>(accepted[s]) / static_cast<double>(trials * coins);
}
double PairedTally::standard_error(std::size_t s) const {
  return error_of_mean(static_cast<double>(trials), static_cast<double>(accepted[s]),
                       static_cast<double>(product(s, s))) /
         static_cast<double>(coins);
}
double PairedTally::difference_error(std::size_t s, std::size_t t) const {
  return error_of_mean(static_cast<double>(trials),
                       static_cast<double>(accepted[s]) - static_cast<double>(accepted[t]),
                       static_cast<double>(product(s, s) + product(t, t) - 2 * product(s, t))) /
         static_cast<double>(coins);
}

std::vector<std::unique_ptr<PathSource>> open_models(const StudyOptions& options) {
  const std::vector<std::string> own{"data/stories260k.bin:q4", "data/stories260k.bin:q3",
                                     "data/stories260k.bin:exit4"};
  std::vector<std::unique_ptr<PathSource>> sources;
  for (const std::string& spec : options.sources.empty() ? own : options.sources) {
    sources.push_back(PathSource::open(spec, {.seed = options.seed}));
    if (sources.back()->stored_trees())
      throw InputError({.file = spec, .got = "stored trees", .expected = "a source that goes on without end"});
  }
  return sources;
}

PairedTally compare_paths(const PathSource& source, std::span<const PathCandidate> candidates, std::uint64_t trials,
                          std::uint64_t coins, const StudyOptions& options,
                          const std::function<void(std::uint64_t)>& done) {
  const TrialBudget budget{
      .trials = trials, .threads = threads_of(options.threads), .stop = options.stop, .progress = done, .shard = 4};
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < budget.threads; ++i)
    workers.push_back(std::make_unique<Worker>(source, candidates, coins, options.seed));
  return run_trials(budget, PairedTally(candidates.size(), coins),
                    [&workers](int worker, std::uint64_t first, std::uint64_t count, PairedTally& tally) {
                      for (std::uint64_t n = first; n < first + count; ++n)
                        workers[static_cast<std::size_t>(worker)]->trial(n, tally);
                    });
}

}  // namespace draftproof
