// The draw that ends a trial in which every draft was refused, on rows where the residual may have vanished by
// rounding.
//
// In exact arithmetic a refusal has probability F > 0, the mass of the residual. Where p and q of a draft lie below
// the unit of sums (2^-60), a flip can refuse it although the sum of the residual is 0: no word leads to a token. The
// target itself then ends the trial.
//
// Cost: nothing where the residual has mass: one comparison of the token drawn.
// Correctness: a draft of such a probability is drawn by no source of ours; the event moves the law by less than the
// rounding of the sums. Every token emitted has target mass. An explorer in fractions still refuses the draw.
#pragma once

#include <draftproof/sim/random_source.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

template <class P, class R, class W>
DRAFTPROOF_DEVICE Verdict last_draw(const P& at, R& random, const W& residual) {
  const Verdict verdict = random.emit(residual);
  if (verdict.token != no_token) return verdict;
  return random.emit(at.residual(at.zero()));
}

}  // namespace draftproof
