// Mutants: wrong rules for several drafts. `Hidden` says where a bug does not show, `Smallest` gives a small instance
// that shows it: (1 2)/3 means (1/3, 2/3), TV is the total variation between output and p.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::mutants {

// Mutant: recursive rejection whose loop over the drafts starts at the second. The output is set to the first draft
// before the loop, and stays the first draft if every other draft is refused.
//
//   F(b)     at.residual_mass(b)     sum over the vocabulary of (p - b q)+
//
// Cost: K - 1 flips.
// Source: ohdearquant/lattice#243, where a loop over positions starts at 1; this is the same bug in a loop over
// siblings.
// Error: an untested draft has distribution q, and no token of the residual is ever emitted.
// Hidden: at p = q only.
// Smallest: p = (0 1), q = (1 0), K = 1: distribution (1 0), TV 1.

struct FirstDraftUnchecked {
  static constexpr Info info{
      .name = "first_draft_unchecked",
      .summary = "recursive rejection that starts at the second draft and falls back to the first",
      .source = "loop bound as in ohdearquant/lattice#243; rule of arXiv:2305.09781",
      .drafts = DraftSamplings{"iid"},
      .derived_from = "recursive_rejection"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    auto b = at.zero();
    auto mass = at.one();
    for (int k = 1; k < at.drafts(); ++k) {
      const Token x = at.draft(k);
      if (random.flip(at.target(x) - b * at.proposal(x), mass * at.proposal(x))) return accepted(x, k);
      b += mass;
      mass = at.residual_mass(b);
    }
    return accepted(at.draft(0), 0);
  }
};

// Mutant: K-SEQ without its division factor. Every draft is tested against p itself, and the residual is clipped
// where the drafts emit too much.
//
//   beta     1 - refused          sum min(p, q), the probability that one draft passes
//   gamma    served               (1 - (1 - beta)^K) / beta
//
// Cost: K flips, one draw.
// Source: rule of arXiv:2310.15141 with rho = 1.
// Error: gamma min(q, p) exceeds p where p < q; the clipped residual cannot take the surplus back.
// Hidden: at K = 1, at p = q and on disjoint supports.
// Smallest: p = (1 2)/3, q = (2 1)/3, K = 2: distribution (4 5)/9, TV 1/9.

struct KseqRhoOne {
  static constexpr Info info{.name = "kseq_rho_one",
                             .summary = "K-SEQ with factor 1 and a clipped residual",
                             .source = "rule of arXiv:2310.15141 without its division factor",
                             .drafts = DraftSamplings{"iid"},
                             .derived_from = "k_seq"};

  /// Returns gamma, as the sum of (1 - beta)^k over k < K.
  template <Distributions L>
  DRAFTPROOF_DEVICE typename L::Scalar prepare(const L& distributions, int drafts) const {
    const auto refused = distributions.residual_mass(distributions.one());  // 1 - beta
    auto served = distributions.zero();
    for (int k = 0; k < drafts; ++k) served = distributions.one() + refused * served;
    return served;
  }

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, const typename P::Scalar& served, R& random) const {
    using Scalar = typename P::Scalar;
    for (int k = 0; k < at.drafts(); ++k)
      if (const Token x = at.draft(k); random.flip(at.target(x), at.proposal(x))) return accepted(x, k);
    const auto left = [&at, served](Token x) -> Scalar {
      const Scalar p = at.target(x), q = at.proposal(x);
      const Scalar rest = p - served * (p < q ? p : q);
      return rest > at.zero() ? rest : at.zero();
    };
    if (at.sum(left) > at.zero()) return random.emit(at.weights(left));
    return random.emit(at.residual(at.zero()));  // draws from p, because the clipped residual has no mass
  }
};

// Mutant: tests every draft against p itself; only the last residual is right.
//
// Source: a bug of multi-draft loops that never update the residual.
// Error: after a refusal, the next test should use the residual, because accepted drafts have emitted part of p
// already.
// Hidden: at K = 1, where it is single-draft sampling, and at p = q.
struct NoResidualUpdate {
  static constexpr Info info{.name = "no_residual_update",
                             .summary = "test every draft against p, as if none had been refused",
                             .source = "common bug of recursive rejection, arXiv:2305.09781",
                             .drafts = DraftSamplings{"iid"},
                             .derived_from = "recursive_rejection"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    for (int k = 0; k < at.drafts(); ++k)
      if (const Token x = at.draft(k); random.flip(at.target(x), at.proposal(x))) return accepted(x, k);
    return last_draw(at, random, at.residual(at.one()));
  }
};

// Mutant: recursive rejection that clips its residual after a refusal but does not divide the residual by its sum
// before the next test.
//
//   r        (p - b q)+              residual, with b the number of refusals
//
// Cost: K flips, one residual mass.
// Source: a bug of tree verifiers; rule of arXiv:2305.09781.
// Error: with a residual of mass below 1 every later test is too strict, and the last draw emits the difference.
// Hidden: at K = 1, at p = q, and at V = 2, K = 2 with q positive.
// Smallest: p = (0 1 2)/3, q = (1 0 1)/2, K = 2: distribution (0 5 7)/12, TV 1/12.

struct SiblingResidualNotNormalised {
  static constexpr Info info{.name = "sibling_residual_not_normalised",
                             .summary = "recursive rejection on a residual that is never divided by its sum",
                             .source = "bug of tree verifiers; rule of arXiv:2305.09781",
                             .drafts = DraftSamplings{"iid"},
                             .derived_from = "recursive_rejection"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    auto b = at.zero();
    for (int k = 0; k < at.drafts(); ++k) {
      const Token x = at.draft(k);
      if (random.flip(at.target(x) - b * at.proposal(x), at.proposal(x))) return accepted(x, k);
      // With tests that are too strict, drafts can be left when the residual is empty; the token is then drawn from
      // the last residual that had mass.
      const auto next = b + at.one();
      if (!(at.residual_mass(next) > at.zero())) break;
      b = next;
    }
    return last_draw(at, random, at.residual(b));
  }
};

}  // namespace draftproof::mutants
