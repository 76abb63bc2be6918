// A trial decided on its first drafts alone, before the others are drawn: where a verifier looks at one that is not
// there, the trial is cut short and decided again, on more drafts, by whoever drew them.
//
//   draft(k)      past those at hand: cuts the trial
//   flip          of a trial that was cut: true, so that a scheme that decides in turn ends with the draft it looks
//   at
//
// Cost: a comparison a draft and a flip. Right because such a scheme (Info::sequential) has seen what the same words
// make of the drafts before, and nothing of a trial that was cut is kept.
#pragma once

#include <draftproof/sim/trials/residual_cache.hpp>
#include <draftproof/sim/trials/speculative_flips.hpp>

namespace draftproof {

template <bool guess>
class AbortableSource : public SpeculativeFlips<guess> {
 public:
  using SpeculativeFlips<guess>::SpeculativeFlips;

  bool aborted() const { return cut_; }
  void cut_short() { cut_ = true; }
  template <class Scalar>
  bool flip(Scalar num, Scalar den) {
    return cut_ || SpeculativeFlips<guess>::flip(num, den);
  }

 private:
  bool cut_ = false;
};

/// Says that all its drafts are there.
template <class Source>
class LazyDrafts : public ResidualCache<RatioTable>::CachedPosition {
 public:
  LazyDrafts(const CachedPosition& all, int at_hand, Source& source) : CachedPosition{all}, at_hand_{at_hand}, source_{&source} {}

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
