// Trials decided on a guess: that the first flip is true. The program then takes the same branch in every trial, and
// whether the guess holds is data. The trials with a wrong guess are decided again, together, with their first flip
// known to be false.
//
//   guess            first flip true, whatever its word says; mispredicted() tells whether its word says false
//   no guess         first `known_rejections` flips false, without reading their words
//   all other flips  by their words
//
// Cost: one flip more in the trials whose first flip is false, and no branch on a flip that would be mispredicted
// every other time. Later flips are mostly false, and predicted. Words are made only for the trials that are decided
// again.
// Correctness: a trial with a right guess has read its own words and no others. Nothing is kept of a trial with a
// wrong guess: its deferred draw is dropped and its verdict overwritten. The verifier must tolerate an outcome that
// contradicts its uniform; its result is then discarded. Sequential schemes (Info::sequential) accept the draft and
// end.
#pragma once

#include <cstdint>

#include <draftproof/sim/trials/deferred_emits.hpp>

namespace draftproof {

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
  /// Number of leading flips now known to be false.
  int known_rejections() const { return lost_; }

 private:
  int known_, lost_, asked_ = 0;
  bool wrong_ = false;
};

}  // namespace draftproof
