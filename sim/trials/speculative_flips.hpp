// Trials decided on a guess: that the first coin is won. What a program does with it is then the same in every trial,
// and whether the guess was right is data; those where it was not are decided again, together, now that their first
// coin is known to be known_rejections.
//
//   guess     first flip   true, whatever it shows; mispredicted() says whether it shows otherwise
//   no guess  first `known_rejections` flips false, without their words
//   all other flips        as they fall
//
// Cost: a flip twice in the trials that lose it, and no branch on a coin that is as good as random, which would be
// mispredicted in every other trial. Later coins are mostly known_rejections, and predicted. Words are made for the trials of a
// pass alone. Right because a trial whose guess was right has seen its own words and no others, and of one whose
// guess was wrong nothing is kept: its last draw is forgotten, its verdict written anew. A program must not mind
// being shown a coin that cannot have fallen so: those that decide on drafts in turn (Info::sequential) take the draft
// and end.
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

  bool mispredicted() const { return wrong_; }
  /// Coins now known to be known_rejections, before the first that is not.
  int known_rejections() const { return lost_; }

 private:
  int known_, lost_, asked_ = 0;
  bool wrong_ = false;
};

}  // namespace draftproof
