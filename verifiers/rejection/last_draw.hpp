// The draw that ends a trial in which every draft was refused, on rows where the residual may have vanished by
// rounding.
//
// In exact arithmetic a refusal has probability F > 0, the mass of the residual. After several refusals, or where p and
// q of a draft lie below the unit of sums (2^-60), F may lie below the rounding of the residual: no word leads to a
// token. The target itself then ends the trial.
//
// Cost: nothing where the residual has mass: one comparison of the token drawn.
// Correctness: the event has a probability below the rounding of the sums, so it moves the law by less. Every token
// emitted has target mass. An explorer in fractions still refuses the draw.
#pragma once

#include <draftproof/sim/random_source.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

/// `at` is the position, or its laws.
template <class P, class R, class W>
DRAFTPROOF_DEVICE Verdict last_draw(const P& at, R& random, const W& residual) {
  const Verdict verdict = random.emit(residual);
  if (verdict.token != no_token) return verdict;
  return random.emit(at.residual(at.zero()));
}

}  // namespace draftproof
