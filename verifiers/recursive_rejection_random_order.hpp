// Recursive rejection of drafts from different proposals; the next draft to test is picked uniformly among those that
// remain, whatever their tokens are.
//
//   q_k      at.proposal(x, k)   law of draft k
//   F r      refusals.left(x)    what is left to serve, not normalised
//   F        refusals.mass()     its sum
//
// Cost: a pick and a flip a test, a pass of O(K V) a refusal. Acceptance is the mean of that of
// recursive_rejection_independent over all orders. Source: Miao et al. 2023 (SpecInfer), arXiv:2305.09781.
// One draft more can cost acceptance: p=(3 1)/4, q=(3 2)/5 accepts 17/20, with a second draft of (1 3)/4 27/32.
// Exact because every order fixed beforehand is, and a mean of exact laws over an order drawn independently of the
// drafts is exact.
#pragma once

#include <draftproof/sim/outside.hpp>
#include <draftproof/sim/refusals.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::verifiers {

struct RecursiveRejectionRandomOrder {
  static constexpr Info info{
      .name = "recursive_rejection_random_order",
      .summary = "recursive rejection of drafts from different proposals, in an order drawn at random",
      .source = "Miao et al. 2023 (SpecInfer), arXiv:2305.09781",
      .drafts = DraftLaws{"independent"},
      .claims = {.accepts_equal_laws = true, .one_draft_is_single_draft = true, .flag_is_membership = true}};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    Refusals<P> refusals(at);
    Token tested[max_drafts];  // indices of drafts: the source draws from whatever is numbered
    while (refusals.count() < at.drafts()) {
      const int n = refusals.count();
      const int k = tested[n] = random.pick(UniformOutside(at.drafts(), tested, n));
      const Token x = at.draft(k);
      if (random.flip(refusals.left(x), refusals.mass() * at.proposal(x, k))) return accepted(x, k);
      // Where nothing is left every flip is certain, and only rounding could refuse it.
      if (!refusals.refuse(k)) return accepted(x, k);
    }
    return random.emit(refusals.residual());
  }
};

}  // namespace draftproof::verifiers
