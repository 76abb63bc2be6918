// Last draws of the trials of a batch, put off until several can be made side by side.
//
//   emit(residual)    ends a trial: the verdict says every_token, as to an explorer, and the word is kept
//   settle            searches all that was put off, one step each in turn, and completes the verdicts
//
// Cost: the steps of the searches, without waiting: what one search reads is on its way while others step. Right
// because nothing of a trial follows its last draw but the flag of schemes that match, which such a verdict leaves
// open (sim/token.hpp); words and comparisons are those of a draw made at once.
#pragma once

#include <algorithm>
#include <cstdint>

#include <draftproof/sim/philox_batch.hpp>
#include <draftproof/sim/ratio_table.hpp>

namespace draftproof {

class DeferredDraws {
 public:
  using Residual = RatioTable::Residual;

  explicit DeferredDraws(Verdict* verdicts) : verdicts_{verdicts} {}

  bool full() const { return count_ == most; }
  void add(int trial, std::uint64_t word, const Residual& residual) {
    const auto search = residual.start(word);
    residual.prefetch(search);
    draws_[count_++] = {trial, residual, search};
  }

  /// Tuples are `stride` apart in `drafts`.
  void settle(const Token* drafts, const int* lengths, int stride) {
    std::uint8_t open[most];
    int left = 0;
    for (int i = 0; i < count_; ++i) open[left++] = static_cast<std::uint8_t>(i);
    while (left > 0) {
      int still = 0;
      for (int j = 0; j < left; ++j) {
        Draw& draw = draws_[open[j]];
        if (draw.search.range.low < draw.search.range.high) draw.residual.step(draw.search);
        draw.residual.prefetch(draw.search);
        open[still] = open[j];
        still += draw.search.range.low < draw.search.range.high;
      }
      left = still;
    }
    for (int i = 0; i < count_; ++i) {
      const Draw& draw = draws_[i];
      Verdict& verdict = verdicts_[draw.trial];
      verdict.token = draw.residual.found(draw.search);
      if (verdict.accepted != accepted_if_drafted) continue;
      const Token* const tuple = drafts + draw.trial * stride;
      const Token* const end = tuple + lengths[draw.trial];
      const Token* const place = std::find(tuple, end, verdict.token);
      verdict.accepted = place == end ? none_accepted : static_cast<std::int32_t>(place - tuple);
    }
    count_ = 0;
  }

 private:
  static constexpr int most = 64;
  struct Draw {
    int trial;
    Residual residual;
    Residual::Search search;
  };
  Verdict* verdicts_;
  int count_ = 0;
  union {
    Draw draws_[most];  // made one by one
  };
};

/// The source of a trial whose last draw may wait.
class DeferringSource : public PhiloxBatch::Source {
 public:
  DeferringSource(PhiloxBatch& words, int i, int trial, DeferredDraws& deferred)
      : Source(words, i), trial_{trial}, deferred_{deferred} {}

  using Source::emit;
  Verdict emit(const DeferredDraws::Residual& residual) {
    deferred_.add(trial_, next(Purpose::emit), residual);
    return {every_token, none_accepted};
  }

 private:
  int trial_;
  DeferredDraws& deferred_;
};

}  // namespace draftproof
