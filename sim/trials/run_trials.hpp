// Runs trials on all threads. Trial n is a function of (seed, n) and counts are integers, so the result is the same
// for any number of threads; only a stop or a time budget changes the number of trials.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <vector>

#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/position.hpp>
#include <draftproof/sim/tally.hpp>
#include <draftproof/sim/trials/for_each_index.hpp>

namespace draftproof {

// A cache of residuals for the trials of one batch: a trial mostly uses the residuals that the trial before it used.
//
//   masses_[n]    result of the n-th call residual_mass(b) of a trial; for i.i.d. drafts every trial has the same b
//   residual_     the residual last drawn from; a residual that recurs often enough gets a guide
//
// Cost: a comparison for each call if b is the same as before, else the uncached call. The processor predicts the
// comparison, so it continues with the cached mass before b itself has been computed.
// Correctness: a result is reused only for the same b, so the tokens are the same as without the cache.

/// The guide (an index that speeds up draws) that all batches of a run share. Only a ratio table has a guide.
template <class L>
struct SharedGuide {};

template <>
class SharedGuide<RatioTable> {
 public:
  /// Returns the guide of this residual, null if there is none.
  const ResidualGuide* guide(double b, double clip_ratio) const {
    const Guided* guided = guided_.load(std::memory_order_acquire);
    return guided != nullptr && guided->b == b && guided->clip_ratio == clip_ratio ? &guided->guide : nullptr;
  }

  /// Records that a batch drew `times` times, always from `residual`. Makes one guide in all, for the first residual
  /// that recurs often enough: a scheme whose residual depends on the drafts would need a guide for each trial.
  void drawn(const RatioTable::Residual& residual, std::uint64_t times, const RatioTable& distributions) const {
    if (guided_.load(std::memory_order_relaxed) != nullptr) return;
    // Making a guide costs about two bisections for each cell, so it waits for as many draws as the guide has cells.
    if (draws_.fetch_add(times, std::memory_order_relaxed) < ResidualGuide::cells_for(distributions.order().size()))
      return;
    const std::unique_lock lock(making_, std::try_to_lock);
    if (!lock || kept_) return;
    kept_ = std::make_unique<const Guided>(Guided{residual.b(), residual.clip_ratio(), residual.guide()});
    guided_.store(kept_.get(), std::memory_order_release);
  }

 private:
  struct Guided {
    double b, clip_ratio;
    ResidualGuide guide;
  };
  mutable std::atomic<std::uint64_t> draws_{0};
  mutable std::mutex making_;
  mutable std::unique_ptr<const Guided> kept_;
  mutable std::atomic<const Guided*> guided_{nullptr};
};

/// Makes the positions of successive trials. Only residuals of a ratio table are cached.
template <class L>
class ResidualCache {
 public:
  ResidualCache(const L& distributions, const SharedGuide<L>&) : distributions_{distributions} {}
  /// Returns the position of the next trial.
  DraftedPosition<L> trial(const Token* drafts, int count) { return {distributions_, drafts, count}; }

 private:
  const L& distributions_;
};

template <>
class ResidualCache<RatioTable> {
 public:
  class CachedPosition : public DraftedPosition<RatioTable> {
   public:
    CachedPosition(ResidualCache& cache, const Token* drafts, int count)
        : DraftedPosition(cache.distributions_, drafts, count), recalled_{&cache} {}
    double residual_mass(double b) const { return recalled_->residual_mass(b); }
    RatioTable::Residual residual(double b) const {
      return recalled_->residual(b, std::numeric_limits<double>::infinity());
    }
    RatioTable::Residual clipped(double b, double clip_ratio) const { return recalled_->residual(b, clip_ratio); }

   private:
    ResidualCache* recalled_;
  };

  ResidualCache(const RatioTable& distributions, const SharedGuide<RatioTable>& recurring)
      : distributions_{distributions}, shared_guide_{recurring} {
    for (Mass& mass : masses_) mass.b = std::numeric_limits<double>::quiet_NaN();  // unequal to every b
  }
  ~ResidualCache() {
    if (draws_ > 0 && changes_ == 1) shared_guide_.drawn(*residual_, draws_, distributions_);
  }
  ResidualCache(const ResidualCache&) = delete;
  ResidualCache& operator=(const ResidualCache&) = delete;

  CachedPosition trial(const Token* drafts, int count) {
    calls_ = 0;
    return {*this, drafts, count};
  }

 private:
  struct Mass {
    double b, mass;
    std::size_t reach;
  };

  double residual_mass(double b) {
    if (calls_ == max_drafts) return distributions_.residual_mass(b);
    Mass& known = masses_[calls_++];
    if (known.b != b) {
      known.b = b;
      known.reach = distributions_.prefix_length(b);
      known.mass = distributions_.residual_mass(b, known.reach);
    }
    return known.mass;
  }

  RatioTable::Residual residual(double b, double clip_ratio) {
    ++draws_;
    if (residual_ && residual_->b() == b && residual_->clip_ratio() == clip_ratio) return *residual_;
    ++changes_;
    const bool same_prefix = std::isinf(clip_ratio) && calls_ > 0 && masses_[calls_ - 1].b == b;
    residual_ = same_prefix              ? distributions_.residual(b, masses_[calls_ - 1].reach)
                : std::isinf(clip_ratio) ? distributions_.residual(b)
                                         : distributions_.clipped(b, clip_ratio);
    residual_->lead(shared_guide_.guide(b, clip_ratio));
    return *residual_;
  }

  const RatioTable& distributions_;
  const SharedGuide<RatioTable>& shared_guide_;
  Mass masses_[max_drafts];
  int calls_ = 0;
  std::optional<RatioTable::Residual> residual_;
  std::uint64_t draws_ = 0, changes_ = 0;
};

/// The number of trials and threads, and the limits of a run. `seconds` > 0 ends the run after the round in which
/// that time is exceeded.
struct TrialBudget {
  std::uint64_t trials = 1'000'000;
  double seconds = 0;
  int threads = 0;                                ///< 0: all processors
  const std::atomic<bool>* stop = nullptr;        ///< if the caller sets it, the run ends after the current shards
  std::function<void(std::uint64_t)> progress{};  ///< called between rounds with the number of trials done
  std::uint64_t shard = 4096;                     ///< number of trials of one call of a worker
};

/// Returns the sum of all workers' tallies. `run(first, count, tally)` or `run(worker, first, count, tally)` adds
/// trials first .. first + count - 1 to a worker's tally; it is called concurrently, but not for the same worker. A
/// tally is copied from `empty` and added with `+=`. Counts are integers, so the sum is the same for any schedule.
/// Throws: an exception that a call of `run` threw, after the round in which it was thrown; nothing if the run was
/// stopped after complete shards, because a program that is stopped may not answer any more.
template <class Counts, class Run>
Counts run_trials(const TrialBudget& budget, const Counts& empty, Run&& run) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const int threads = threads_of(budget.threads);
  const auto stopped = [&] { return budget.stop && budget.stop->load(std::memory_order_relaxed); };
  std::vector<Counts> tallies(static_cast<std::size_t>(threads), empty);
  std::exception_ptr failure;
  std::atomic<bool> counted = false;  // whether a shard is complete
  const auto take = [&run](int worker, std::uint64_t first, std::uint64_t count, Counts& tally) {
    if constexpr (std::is_invocable_v<Run&, int, std::uint64_t, std::uint64_t, Counts&>)
      run(worker, first, count, tally);
    else
      run(first, count, tally);
  };
  // The first round is four shards for each worker, and every round is twice as long as the one before. The clock is
  // read and progress is reported between rounds.
  std::uint64_t round = budget.shard * static_cast<std::uint64_t>(threads) * 4;
  for (std::uint64_t first = 0; first < budget.trials && !stopped() && !failure; round *= 2) {
    const std::uint64_t end = std::min(budget.trials, first + round);
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int worker = 0; worker < threads; ++worker) {
      try {
        const std::uint64_t stride = budget.shard * static_cast<std::uint64_t>(threads);
        for (std::uint64_t shard = first + budget.shard * static_cast<std::uint64_t>(worker);
             shard < end && !stopped(); shard += stride) {
          take(worker, shard, std::min(budget.shard, end - shard), tallies[static_cast<std::size_t>(worker)]);
          counted = true;
        }
      } catch (...) {
#pragma omp critical
        failure = std::current_exception();
      }
    }
    first = end;
    if (budget.progress && !stopped() && !failure) budget.progress(first);  // a round that was stopped is incomplete
    if (budget.seconds > 0 && std::chrono::duration<double>(Clock::now() - start).count() >= budget.seconds) break;
    // Keeps rounds short, because a run exceeds its time by up to one round.
    if (budget.seconds > 0) round = std::min<std::uint64_t>(round, budget.shard * 256);
  }
  if (failure && !(stopped() && counted)) std::rethrow_exception(failure);
  Counts total = empty;
  for (const Counts& tally : tallies) total += tally;
  return total;
}

}  // namespace draftproof
