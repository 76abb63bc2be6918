// Recursive rejection of drafts from different proposals; the next draft to test is picked uniformly among the
// untested ones, independently of their tokens.
//
//   q_k      at.proposal(x, k)   distribution of draft k
//   F r      refusals.left(x)    residual, not normalised
//   F        refusals.mass()     its sum
//
// Cost: a pick and a flip per test; a pass of O(K V) per refusal and one for the draw. A plan for many trials may keep
// the sums of all orders, for up to four proposals or for one proposal of all drafts (residual_chain.hpp); trials then
// take no passes.
// Acceptance: the mean acceptance of recursive_rejection_independent over all orders. One more draft can reduce
// acceptance: p=(3 1)/4, q=(3 2)/5 accepts 17/20, but only 27/32 with a second draft of (1 3)/4.
// Source: Miao et al. 2023 (SpecInfer), arXiv:2305.09781.
// Correctness: every fixed order is exact, and so is a mean over an order drawn independently of the drafts.
#pragma once

#include <draftproof/sim/sampling/without_replacement.hpp>
#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::verifiers {

struct RecursiveRejectionRandomOrder {
  static constexpr Info info{
      .name = "recursive_rejection_random_order",
      .summary = "recursive rejection of drafts from different proposals, in an order drawn at random",
      .source = "Miao et al. 2023 (SpecInfer), arXiv:2305.09781",
      .drafts = DraftSamplings{"independent"},
      .claims = {.accepts_equal_distributions = true,
                 .one_draft_is_single_draft = true,
                 .emitted_drafts_are_accepted = true}};

  template <ManyTrials L>
  RefusalPlan<L> prepare(const L& distributions, int drafts) const {
    return RefusalPlan<L>(distributions, drafts);
  }

  template <Position P, class L, RandomSource R>
  Verdict verify(const P& at, const RefusalPlan<L>& plan, R& random) const {
    return plan.covers(at.drafts()) ? decide(at, plan.start(at), random) : verify(at, random);
  }

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    return decide(at, Refusals<P>(at), random);
  }

 private:
  template <class P, class Refused, class R>
  DRAFTPROOF_DEVICE static Verdict decide(const P& at, Refused refusals, R& random) {
    Token tested[max_drafts];  // indices of drafts; UniformOnComplement takes them as Token
    while (refusals.count() < at.drafts()) {
      const int n = refusals.count();
      const int k = tested[n] = random.pick(UniformOnComplement(at.drafts(), tested, n));
      const Token x = at.draft(k);
      if (random.flip(refusals.left(x), refusals.mass() * at.proposal(x, k))) return accepted(x, k);
      // refuse() returns false if no residual is left. The flip then failed by rounding, so x is accepted if p(x) > 0.
      if (!refusals.refuse(k)) return at.target(x) > at.zero() ? accepted(x, k) : random.emit(at.residual(at.zero()));
    }
    return refusals.emit(random);
  }
};

}  // namespace draftproof::verifiers
