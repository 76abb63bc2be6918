// Mutant: i.i.d. drafts verified by recursive rejection without replacement; a repeated draft is not tested, but
// changes the residual as a refusal would.
//
//   m        at.mass_without(0, seen, n)  proposal mass outside the n tokens seen so far
//   F(b)     at.residual_mass(b)          sum over the vocabulary of (p - b q)+
//
// Cost: K flips, a residual mass and an unseen mass a draft.
// Source: mirror image of drafts without replacement verified as i.i.d. ones; no single report.
// Error: a repeat is no refusal; dropping repeats without an update is exact.
// Hidden: at K = 1, at p = q, and at V = 2, K = 2 with q positive.
// Smallest: p = (0 1 1)/2, q = (2 0 1)/3, K = 2: law (0 11 7)/18, TV 1/9.
#pragma once

#include <draftproof/sim/sampling/function_weights.hpp>
#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/last_draw.hpp>

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
      // A q of one token repeats for ever; the rule is undefined there.
      if (!(unseen > at.zero())) break;
      if (!among(x, seen, count)) {
        if (random.flip((at.target(x) - b * at.proposal(x)) * unseen, mass * at.proposal(x))) return accepted(x, k);
        seen[count++] = x;
      }
      // With a wrong law a residual can end before the drafts do; the draw is then from the last residual with mass.
      const typename P::Scalar next = b + mass / unseen, rest = at.residual_mass(next);
      if (!(rest > at.zero())) break;
      b = next;
      mass = rest;
    }
    return last_draw(at, random, at.residual(b));
  }
};

}  // namespace draftproof::mutants
