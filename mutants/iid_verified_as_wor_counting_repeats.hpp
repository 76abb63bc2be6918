// I.i.d. drafts verified by recursive rejection without replacement; a draft seen before is not tested, but moves the
// residual as a refusal would.
//
//   m        at.mass_without(0, seen, n)  proposal mass outside the n tokens seen so far
//   F(b)     at.residual_mass(b)          sum over the vocabulary of (p - b q)+
//
// Cost: K flips, a residual mass and an unseen mass a draft. Source: mirror image of drafts without replacement
// verified as i.i.d. ones; no single report. Wrong because nothing was refused, so nothing was learnt; dropping the
// repeats without a move is exact. Hidden at K = 1, at p = q, and at V = 2, K = 2 with q positive. Smallest: p = (0 1
// 1)/2, q = (2 0 1)/3, K = 2: law (0 11 7)/18, TV 1/9.
#pragma once

#include <draftproof/sim/sampling/function_weights.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::mutants {

struct IidVerifiedAsWorCountingRepeats {
  static constexpr Info info{
      .name = "iid_verified_as_wor_counting_repeats",
      .summary = "i.i.d. drafts tested as drawn without replacement, a repeat counts as refused",
      .source = "slip of tree verifiers; rule of arXiv:2402.14160",
      .drafts = DraftLaws{"iid"},
      .derived_from = "recursive_rejection_distinct"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    Token seen[max_drafts];
    int count = 0;
    auto b = at.zero();
    auto mass = at.one();
    for (int k = 0; k < at.drafts(); ++k) {
      const Token x = at.draft(k);
      const auto unseen = at.mass_without(0, seen, count);
      // A one-token q repeats for ever: the rule has nothing to say there.
      if (!(unseen > at.zero())) break;
      if (!among(x, seen, count)) {
        if (random.flip((at.target(x) - b * at.proposal(x)) * unseen, mass * at.proposal(x))) return accepted(x, k);
        seen[count++] = x;
      }
      // Under a wrong law a residual can end before the drafts do: then what was left is all there is to draw from.
      const typename P::Scalar next = b + mass / unseen, rest = at.residual_mass(next);
      if (!(rest > at.zero())) break;
      b = next;
      mass = rest;
    }
    return random.emit(at.residual(b));
  }
};

}  // namespace draftproof::mutants
