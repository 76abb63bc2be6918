// Recursive rejection of drafts drawn without replacement. As with i.i.d. drafts, the residual after refusals is
// (p - b q)+, but each refusal increases b by F(b) / m, where m is the unseen proposal mass.
//
//   p        at.target(x)              target probability of token x
//   q        at.proposal(x)            proposal; draft k was drawn from q restricted to unseen tokens
//   m        at.mass_without(0, s, k)  proposal mass outside the first k drafts
//   F(b)     at.residual_mass(b)       sum over the vocabulary of (p - b q)+
//
// Cost: K flips, one residual mass and one unseen mass per refusal.
// Source: Jeon et al. 2024 (RSD), arXiv:2402.14160; Chen et al. 2024 (Sequoia), arXiv:2402.12374.
// Correctness: a token is refused only if its term in the next residual is zero, so b and m determine the residual.
// If no proposal mass is unseen, the drafter draws uniformly from the other tokens, and the recursion restarts with the
// rest of p and the uniform distribution. Drafter and verifier detect this case by the same function of the same
// distributions.
#pragma once

#include <limits>

#include <draftproof/sim/sampling/without_replacement.hpp>
#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::verifiers {

struct RecursiveRejectionWor {
  static constexpr Info info{
      .name = "recursive_rejection_wor",
      .summary = "test drafts without replacement in turn against the shrinking residual",
      .source = "Jeon et al. 2024 (RSD), arXiv:2402.14160; Chen et al. 2024 (Sequoia), arXiv:2402.12374",
      .drafts = DraftSamplings{"without_replacement", "without_replacement_uniform"},
      .claims = {.accepts_equal_distributions = true,
                 .one_draft_is_single_draft = true,
                 .emitted_drafts_are_accepted = true,
                 .more_drafts_never_hurt = true},
      .sequential = true};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    int exhausted_at = 0;
    const Verdict verdict = test_in_turn(at, random, exhausted_at);
    if (exhausted_at == 0) return verdict;
    const OffSupportPosition<P> rest(at, exhausted_at);
    int never = 0;
    const Verdict late = test_in_turn(rest, random, never);
    // If rounding left no residual here either, the token is drawn from the target, as in last_draw().
    if (late.token == no_token) return random.emit(at.residual(at.zero()));
    return late.accepted >= 0 ? accepted(late.token, late.accepted + exhausted_at) : late;
  }

 private:
  template <class P, RandomSource R>
  DRAFTPROOF_DEVICE static Verdict test_in_turn(const P& at, R& random, int& exhausted_at) {
    auto b = at.zero();
    auto mass = at.one();
    for (int k = 0; k < at.drafts(); ++k) {
      const Token x = at.draft(k);
      const auto unseen = at.mass_without(0, at.draft_data(), k);
      if (!(unseen > at.zero())) {
        exhausted_at = k;
        return {};
      }
      const auto wanted = at.target(x) - b * at.proposal(x);
      if (random.flip(wanted * unseen, mass * at.proposal(x))) return accepted(x, k);
      b = finite(b + mass / unseen);
      mass = at.residual_mass(b);
      // If no residual is left, only rounding made the flip fail: in exact arithmetic it would have succeeded.
      if (!(mass > at.zero()) && wanted > at.zero()) return accepted(x, k);
    }
    return last_draw(at, random, at.residual(b));
  }

  template <class Scalar>
  static constexpr Scalar largest = std::numeric_limits<Scalar>::max();
  /// The unseen mass can be so small that the quotient overflows, and infinity times q = 0 is NaN. The largest number
  /// gives the same residual as any greater one.
  template <class Scalar>
  DRAFTPROOF_DEVICE static Scalar finite(const Scalar& b) {
    if constexpr (std::numeric_limits<Scalar>::has_infinity)
      return b < largest<Scalar> ? b : Scalar(largest<Scalar>);
    else
      return b;
  }
};

}  // namespace draftproof::verifiers
