// A trial decided on its first drafts only, before the others are drawn. If the verifier reads a draft that has not
// been drawn yet, the trial is aborted and the caller reruns it with more drafts.
//
//   draft(k)      for k beyond the drawn drafts: aborts the trial
//   flip          of an aborted trial: true, so that a sequential scheme ends at the draft that it reads
//
// Cost: a comparison for each draft read and for each flip.
// Correctness: a sequential scheme (Info::sequential) decides on the drawn drafts from the same words as with all
// drafts, and nothing of an aborted trial is kept.
#pragma once

#include <draftproof/sim/trials/residual_cache.hpp>
#include <draftproof/sim/trials/speculative_flips.hpp>

namespace draftproof {

/// The source of such a trial.
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

/// The position of such a trial: drafts() counts all drafts, of which the first `at_hand` are drawn.
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
