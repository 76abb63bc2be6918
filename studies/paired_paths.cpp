#include <draftproof/studies/paired_paths.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>

#include <draftproof/sim/trials/run_trials.hpp>

namespace draftproof {

namespace {

struct Tallies {
  std::vector<PairedTally> cells;

  Tallies& operator+=(const Tallies& other) {
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i] += other.cells[i];
    return *this;
  }
};

/// The state of one thread.
class Worker {
 public:
  Worker(const PathSource& source, std::span<const PathCell> cells, std::uint64_t coins, std::uint64_t seed)
      : conditionals_{source.open()}, coins_{coins}, seed_{seed} {
    for (const PathCell& cell : cells) {
      lengths_.resize(std::max(lengths_.size(), static_cast<std::size_t>(cell.drafts)), 0);
      for (std::size_t k = 0; k < static_cast<std::size_t>(cell.drafts); ++k)
        lengths_[k] = std::max(lengths_[k], cell.length);
      cells_.push_back({{.drafts = cell.drafts, .length = cell.length}, {}});
      for (const AnyPathVerifier* scheme : cell.schemes) {
        cells_.back().deciders.push_back(scheme->simulate_on(*conditionals_, cells_.back().shape));
        if (!cells_.back().deciders.back())
          throw std::invalid_argument(std::string(scheme->info().name) + " cannot be simulated");
      }
    }
  }

  void trial(std::uint64_t n, Tallies& tallies) {
    const int start = conditionals_->start(n);
    draw(n, start);
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      grow(cells_[i].shape, start);
      PairedTally& tally = tallies.cells[i];
      sums_.assign(cells_[i].deciders.size(), 0);
      for (std::uint64_t coin = 0; coin < coins_; ++coin) verify(cells_[i], n * coins_ + coin, tally);
      count(tally);
    }
  }

 private:
  struct Cell {
    TreeShape shape;
    std::vector<PathDeciderPtr<RatioTable, Philox>> deciders;
  };

  /// Draws every path, token by token, to the greatest length of any cell.
  void draw(std::uint64_t n, int start) {
    paths_.resize(lengths_.size());
    Philox draft(seed_, n, Philox::Role::draft);
    for (std::size_t k = 0; k < paths_.size(); ++k) {
      paths_[k].clear();
      int context = start;
      for (int i = 0; i < lengths_[k]; ++i) {
        const Token x = draft.pick(conditionals_->laws(context).row(0));
        context = conditionals_->next(context, x);
        if (context == StepContexts::no_context) throw std::invalid_argument("paths longer than the source");
        paths_[k].push_back({x, context});
      }
    }
  }

  void grow(const TreeShape& shape, int start) {
    tree_.clear(start);
    for (std::size_t k = 0; k < static_cast<std::size_t>(shape.drafts); ++k) {
      int u = DraftTree::root;
      for (std::size_t i = 0; i < static_cast<std::size_t>(shape.length); ++i)
        u = tree_.draw(u, paths_[k][i].token, paths_[k][i].context);
    }
  }

  void verify(Cell& cell, std::uint64_t address, PairedTally& tally) {
    const std::size_t schemes = cell.deciders.size();
    taus_.clear();
    for (std::size_t s = 0; s < schemes; ++s) {
      Philox coins(seed_, address, Philox::Role::verify);
      const StepOutput step = cell.deciders[s]->decide(tree_, {}, coins);
      taus_.push_back(tree_.depth(step.node));
      sums_[s] += taus_.back();
      tally.impossible[s] += step.extra.token < 0;
    }
    for (std::size_t s = 0; s < schemes; ++s)
      for (std::size_t t = 0; t < schemes; ++t) tally.longer[s * schemes + t] += taus_[s] > taus_[t];
  }

  void count(PairedTally& tally) const {
    ++tally.trials;
    const std::size_t schemes = sums_.size();
    for (std::size_t s = 0; s < schemes; ++s) {
      tally.accepted[s] += static_cast<std::uint64_t>(sums_[s]);
      tally.own_squares[s] += static_cast<std::uint64_t>(sums_[s] * sums_[s]);
      for (std::size_t t = 0; t < schemes; ++t) {
        const std::int64_t difference = sums_[s] - sums_[t];
        tally.squares[s * schemes + t] += static_cast<std::uint64_t>(difference * difference);
      }
    }
  }

  struct Drawn {
    Token token;
    int context;
  };

  std::unique_ptr<StepContexts> conditionals_;
  std::uint64_t coins_, seed_;
  std::vector<int> lengths_;  // of path k
  std::vector<Cell> cells_;
  std::vector<std::vector<Drawn>> paths_;
  std::vector<int> taus_;           // of one verification
  std::vector<std::int64_t> sums_;  // of one trial
  DraftTree tree_;
};

/// Standard error of the mean of n numbers with this sum and sum of squares.
double error_of_mean(double n, double sum, double squares) {
  if (n < 2) return 0;
  const double mean = sum / n;
  return std::sqrt(std::max(0.0, squares / n - mean * mean) / (n - 1));
}

void add(std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

}  // namespace

PairedTally::PairedTally(std::size_t schemes, std::uint64_t coins_of_a_trial)
    : coins(coins_of_a_trial),
      accepted(schemes),
      impossible(schemes),
      squares(schemes * schemes),
      longer(schemes * schemes),
      own_squares(schemes) {}

PairedTally& PairedTally::operator+=(const PairedTally& other) {
  trials += other.trials;
  add(accepted, other.accepted);
  add(impossible, other.impossible);
  add(squares, other.squares);
  add(longer, other.longer);
  add(own_squares, other.own_squares);
  return *this;
}

double PairedTally::mean(std::size_t scheme) const {
  return trials == 0 ? 0 : static_cast<double>(accepted[scheme]) / static_cast<double>(trials * coins);
}
double PairedTally::standard_error(std::size_t scheme) const {
  return error_of_mean(static_cast<double>(trials), static_cast<double>(accepted[scheme]),
                       static_cast<double>(own_squares[scheme])) /
         static_cast<double>(coins);
}
double PairedTally::difference(std::size_t s, std::size_t t) const { return mean(s) - mean(t); }
double PairedTally::difference_error(std::size_t s, std::size_t t) const {
  return error_of_mean(static_cast<double>(trials),
                       static_cast<double>(accepted[s]) - static_cast<double>(accepted[t]),
                       static_cast<double>(squares[s * accepted.size() + t])) /
         static_cast<double>(coins);
}

PairedResult compare_paths(const PathSource& source, std::span<const PathCell> cells, std::uint64_t trials,
                           std::uint64_t coins, const StudyOptions& options,
                           const std::function<void(std::uint64_t)>& done) {
  const TrialBudget budget{.trials = trials,
                           .threads = options.threads > 0 ? options.threads : default_threads(),
                           .stop = options.stop,
                           .progress = done,
                           .shard = 4};
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < budget.threads; ++i)
    workers.push_back(std::make_unique<Worker>(source, cells, coins, options.seed));
  Tallies empty;
  for (const PathCell& cell : cells) empty.cells.emplace_back(cell.schemes.size(), coins);
  Tallies total =
      run_trials(budget, empty, [&workers](int worker, std::uint64_t first, std::uint64_t count, Tallies& tallies) {
        for (std::uint64_t n = first; n < first + count; ++n)
          workers[static_cast<std::size_t>(worker)]->trial(n, tallies);
      });
  PairedResult result{std::move(total.cells), true};
  for (const PairedTally& tally : result.cells) result.complete = result.complete && tally.trials == trials;
  return result;
}

}  // namespace draftproof
