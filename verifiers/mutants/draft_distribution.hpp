// Mutants: drafts verified as if drawn in another way. `Hidden` says where a bug does not show, `Smallest` gives a
// small instance that shows it: (1 2)/3 means (1/3, 2/3), TV is the total variation between output and p.
#pragma once

#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::mutants {

// Mutant: the K most probable tokens, verified as if they had been drawn without replacement.
//
// Source: dynamic trees with a sampling verifier.
// Error: the drafts are certain, not drawn with probability q.
struct FixedVerifiedAsSampled {
  static constexpr Info info{.name = "fixed_verified_as_sampled",
                             .summary = "fixed top-K drafts tested as a draw without replacement",
                             .source = "mismatch of EAGLE-2 style trees and arXiv:2402.14160",
                             .drafts = DraftSamplings{"fixed_top_k"},
                             .derived_from = "sample_and_match"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    return verifiers::RecursiveRejectionWor{}.verify(at, random);
  }
};

// Mutant: i.i.d. drafts verified by recursive rejection without replacement; a repeated draft is not tested, but
// changes the residual as a refusal would.
//
//   m        at.mass_without(0, seen, n)  proposal mass outside the n tokens seen so far
//   F(b)     at.residual_mass(b)          sum over the vocabulary of (p - b q)+
//
// Cost: K flips, a residual mass and an unseen mass per draft.
// Source: the reverse of verifying drafts without replacement as i.i.d. drafts; not taken from a bug report.
// Error: the rule updates the residual at a repeated draft; skipping repeats without an update is exact.
// Hidden: at K = 1, at p = q, and at V = 2, K = 2 with q positive.
// Smallest: p = (0 1 1)/2, q = (2 0 1)/3, K = 2: distribution (0 11 7)/18, TV 1/9.

struct IidVerifiedAsWorCountingRepeats {
  static constexpr Info info{
      .name = "iid_verified_as_wor_counting_repeats",
      .summary = "i.i.d. drafts tested as drawn without replacement, a repeat counts as refused",
      .source = "bug of tree verifiers; rule of arXiv:2402.14160",
      .drafts = DraftSamplings{"iid"},
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
      // If the drafted tokens have all mass of q, all later drafts are repeats; the rule is undefined there.
      if (!(unseen > at.zero())) break;
      if (!among(x, seen, count)) {
        if (random.flip((at.target(x) - b * at.proposal(x)) * unseen, mass * at.proposal(x))) return accepted(x, k);
        seen[count++] = x;
      }
      // Because the distribution is wrong, the residual can become empty before the drafts do; the token is then
      // drawn from the last residual that had mass.
      const typename P::Scalar next = b + mass / unseen, rest = at.residual_mass(next);
      if (!(rest > at.zero())) break;
      b = next;
      mass = rest;
    }
    return last_draw(at, random, at.residual(b));
  }
};

// Mutant: drafts drawn without replacement, verified by recursive rejection as if each had been drawn from the whole
// q.
//
// Source: a bug of tree verifiers: q is not renormalised after a refusal. Setting the refused token to zero without
// renormalising has the same distribution.
// Error: a later draft has a higher probability than the q it is tested against.
// Hidden: if at most one token is left in the residual, which is the case on most small instances.
struct WorVerifiedAsIid {
  static constexpr Info info{
      .name = "wor_verified_as_iid",
      .summary = "drafts without replacement tested against the whole q",
      .source = "common bug; recursive rejection of arXiv:2305.09781 on the wrong draft sampling",
      .drafts = DraftSamplings{"without_replacement"},
      .sequential = true,
      .derived_from = "recursive_rejection_wor"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    return verifiers::RecursiveRejection{}.verify(at, random);
  }
};

}  // namespace draftproof::mutants
