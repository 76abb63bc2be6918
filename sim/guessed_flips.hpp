// Trials decided on a guess: that the first coin not known yet is won. What a program does with a coin is then the
// same in every trial, and whether the guess was right is data; those where it was not are decided again, together,
// with one more coin known to be lost.
//
//   lost       coins that the trials of a pass are known to lose first: false, without their words
//   next one   true, whatever it shows; wrong() says whether it shows otherwise
//   later ones as they fall
//
// Cost: lost + 1 flips a trial and pass, and no branch on a coin, which is as good as random and would be mispredicted
// in every other trial. Words are made for the trials of a pass alone. Right because a trial whose guess was right has
// seen its own words and no others, and of one whose guess was wrong nothing is kept: its last draw is forgotten, its
// verdict written anew. A program must not mind being shown a coin that cannot have fallen so: those that decide on
// drafts in turn (Info::in_turn) take the draft and end.
#pragma once

#include <cstdint>

#include <draftproof/sim/deferred_draws.hpp>

namespace draftproof {

class GuessedFlips : public DeferringSource {
 public:
  GuessedFlips(PhiloxBatch& words, int i, int trial, DeferredDraws& deferred, int lost)
      : DeferringSource(words, i, trial, deferred), lost_{lost} {
    skip(Purpose::flip, static_cast<std::uint32_t>(lost));
  }

  /// Passes after this one would hold too few trials: all coins as they fall.
  static constexpr int most_lost = 1;

  template <class Scalar>
  bool flip(Scalar num, Scalar den) {
    const int n = asked_++;
    if (n < lost_) return false;
    const bool shown = DeferringSource::flip(num, den);
    if (n > lost_ || lost_ >= most_lost) return shown;
    wrong_ = !shown;
    return true;
  }

  bool wrong() const { return wrong_; }
  int lost() const { return lost_; }

 private:
  int lost_, asked_ = 0;
  bool wrong_ = false;
};

}  // namespace draftproof
