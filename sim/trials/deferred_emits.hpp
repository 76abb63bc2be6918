// Batches of trials save time in three ways: last draws are made together, the first flip is guessed, and drafts are
// drawn only if the verifier reads them.
//
// The last draws of the trials of a batch are deferred until many can be made together.
//
//   emit(residual)    ends a trial: stores its residual and random bits; the verdict has every_token until flush()
//   flush             runs all deferred searches, one step of each in turn, and completes the verdicts
//
// Cost: the steps of the searches without their cache misses, because the reads of one search are prefetched while
// the others step. A residual in which successive trials end is stored once.
// Correctness: nothing in a trial depends on its last draw, except in schemes that compare the token with the drafts
// (matched() in sim/token.hpp); flush() makes that comparison. Random bits and comparisons are the same as in an
// immediate draw.
#pragma once

#include <algorithm>
#include <cstdint>

#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/random/batched_philox.hpp>
#include <draftproof/sim/trials/run_trials.hpp>

namespace draftproof {

class DeferredEmits {
 public:
  using Residual = RatioTable::Residual;

  explicit DeferredEmits(Verdict* verdicts) : verdicts_{verdicts} {}

  /// Whether flush() must come before the next add().
  bool full() const { return count_ == most; }
  /// Number of deferred draws.
  int count() const { return count_; }
  /// Defers a draw of `trial`. This function is not inlined, so that the caller's random source stays in registers.
  [[gnu::noinline]] void add(int trial, std::uint64_t word, const Residual& residual) {
    if (count_ == 0) kinds_ = 0;
    if (kinds_ == 0 || !residuals_[kinds_ - 1].is(residual)) residuals_[kinds_++] = residual;
    draws_[count_++] = {word, trial, kinds_ - 1};
  }
  /// Drops the deferred draws after the first `count`.
  void keep(int count) { count_ = count; }

  /// Makes all deferred draws and completes their verdicts. Tuples are `stride` apart in `drafts`.
  void flush(const Token* drafts, const int* lengths, int stride) {
    if (count_ > 0 && draws_[0].kind == draws_[count_ - 1].kind) {
      const Residual residual = residuals_[draws_[0].kind];  // a copy, so that its members stay in registers
      search([&residual](int) -> const Residual& { return residual; });
    } else {
      search([this](int i) -> const Residual& { return residuals_[draws_[i].kind]; });
    }
    for (int i = 0; i < count_; ++i) {
      const Draw& draw = draws_[i];
      Verdict& verdict = verdicts_[draw.trial];
      verdict.token = tokens_[i];
      if (verdict.accepted != accepted_if_drafted) [[likely]]
        continue;
      const Token* const tuple = drafts + draw.trial * stride;
      const Token* const end = tuple + lengths[draw.trial];
      const Token* const place = std::find(tuple, end, verdict.token);
      verdict.accepted = place == end ? none_accepted : static_cast<std::int32_t>(place - tuple);
    }
    count_ = 0;
  }

 private:
  static constexpr int most = 256;

  template <class ResidualOf>
  void search(const ResidualOf& residual) {
    int open[most], left = 0;
    for (int i = 0; i < count_; ++i) {
      searches_[i] = residual(i).start(draws_[i].word);
      left = sort(residual(i), i, open, left);
    }
    while (left > 0) {
      int still = 0;
      for (int j = 0; j < left; ++j) {
        const int i = open[j];
        residual(i).step(searches_[i]);
        still = sort(residual(i), i, open, still);
      }
      left = still;
    }
    for (int i = 0; i < count_; ++i) tokens_[i] = residual(i).found(searches_[i]);
  }
  /// Appends search i to `open` and counts it if it is not finished, without a branch, which would be mispredicted.
  int sort(const Residual& residual, int i, int* open, int still) {
    const auto& search = searches_[i];
    residual.prefetch(search);
    open[still] = i;
    return still + (search.range.low < search.range.high);
  }

  struct Draw {
    std::uint64_t word;
    int trial, kind;
  };
  Verdict* verdicts_;
  int count_ = 0, kinds_ = 0;
  Draw draws_[most];
  Token tokens_[most];
  union {
    Residual residuals_[most];  // constructed one by one
  };
  union {
    Residual::Search searches_[most];
  };
};

/// The random source of a trial whose last draw may be deferred.
class DeferredEmitSource : public PhiloxBatch::Source {
 public:
  DeferredEmitSource(PhiloxBatch& words, int i, int trial, DeferredEmits& deferred)
      : Source(words, i), trial_{trial}, deferred_{deferred} {}

  using Source::emit;
  [[gnu::always_inline]] Verdict emit(const DeferredEmits::Residual& residual) {
    deferred_.add(trial_, next(Purpose::emit), residual);
    return {every_token, none_accepted};
  }

 private:
  int trial_;
  DeferredEmits& deferred_;
};

// Runs trials with the first flip guessed to be true, so that the program takes the same branch in every trial. Trials
// with a wrong guess are run again, together, with their first flip known to be false.
//
//   guess            the first flip returns true; mispredicted() is whether its random bits give false
//   no guess         the first `known_rejections` flips return false without reading their random bits
//   all other flips  are decided by their random bits
//
// Cost: one flip more in the trials with a wrong guess. In return the processor avoids the mispredictions of the branch
// on the first flip, about one in two trials; later flips are mostly false, which it predicts. The second run makes
// random bits for its trials only.
// Correctness: a trial with a right guess has read the same random bits as without the guess. Results of a wrong guess
// are discarded: the deferred draw is dropped and the verdict overwritten. The verifier must accept a flip that
// contradicts its random bits, as sequential schemes (Info::sequential) do: they accept the draft and end.

template <bool guess>
class SpeculativeFlips : public DeferredEmitSource {
 public:
  SpeculativeFlips(PhiloxBatch& words, int i, int trial, DeferredEmits& deferred, int known_rejections)
      : DeferredEmitSource(words, i, trial, deferred), known_{known_rejections}, lost_{known_rejections} {
    if constexpr (!guess) skip(Purpose::flip, static_cast<std::uint32_t>(known_rejections));
  }

  template <class Scalar>
  bool flip(Scalar num, Scalar den) {
    const int n = asked_++;
    if constexpr (guess) {
      const bool shown = DeferredEmitSource::flip(num, den);
      if (n > 0) return shown;
      wrong_ = !shown;
      return true;
    } else {
      if (n < known_) return false;
      const bool shown = DeferredEmitSource::flip(num, den);
      lost_ += static_cast<int>(n == lost_ && !shown);
      return shown;
    }
  }

  /// Whether the guess was wrong.
  bool mispredicted() const { return wrong_; }
  /// Number of the scheme's first flips that are known to be false.
  int known_rejections() const { return lost_; }

 private:
  int known_, lost_, asked_ = 0;
  bool wrong_ = false;
};

// Decides a trial on its first drafts only, before the other drafts are drawn. If the verifier reads a draft that has
// not been drawn yet, the trial is aborted and the caller reruns it with more drafts.
//
//   draft(k)      for k beyond the drawn drafts: aborts the trial
//   flip          of an aborted trial: true, so that a sequential scheme ends at the draft that it reads
//
// Cost: a comparison for each draft read and for each flip.
// Correctness: a sequential scheme (Info::sequential) decides on the drawn drafts from the same random bits as with
// all drafts, and the results of an aborted trial are discarded.

/// The random source of a trial that is decided on its first drafts.
template <bool guess>
class AbortableSource : public SpeculativeFlips<guess> {
 public:
  using SpeculativeFlips<guess>::SpeculativeFlips;

  /// Whether the trial read a draft that has not been drawn.
  bool aborted() const { return cut_; }
  void cut_short() { cut_ = true; }
  template <class Scalar>
  bool flip(Scalar num, Scalar den) {
    return cut_ || SpeculativeFlips<guess>::flip(num, den);
  }

 private:
  bool cut_ = false;
};

/// The position of a trial on its first drafts: drafts() counts all drafts, of which the first `at_hand` are drawn.
template <class Source>
class LazyDrafts : public ResidualCache<RatioTable>::CachedPosition {
 public:
  LazyDrafts(const CachedPosition& all, int at_hand, Source& source)
      : CachedPosition{all}, at_hand_{at_hand}, source_{&source} {}

  Token draft(int k) const {
    if (k < at_hand_) return CachedPosition::draft(k);
    source_->cut_short();
    return CachedPosition::draft(0);
  }

 private:
  int at_hand_;
  Source* source_;
};

}  // namespace draftproof
