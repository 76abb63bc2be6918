// Greedy block verification: the tests of a block with products that are not clipped. The scheme accepts more of the
// first block than a stateless lossless rule can; in exchange, in the next iteration the target of the block's
// remaining positions is a residual.
//
//   R_i          path.ratio(i)    product of p_s / q over i tokens, p_s the present target (block_rule.hpp)
//   D+           path.excess(i)   sum over the vocabulary of (R_i p_s - q)+
//   D-           D+ + 1 - R_i     sum of (q - R_i p_s)+
//
// Test i < L succeeds with probability D+ / D-, test L with probability R_L; the largest i is taken.
// Cost: the cost of block verification, and one residual mass per layer (a residual from an earlier iteration) and
// position.
// Source: the idea is from Sun et al. 2025, arXiv:2403.10444, appendix; formulas derived here.
// Correctness: the process is lossless, a single iteration is not. The mass that passes x is min(q(x), p_s(x)), the
// largest possible; the carried target of the next iteration is reduced by the surplus that one iteration emits.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof::verifiers::paths {

struct GreedyBlock {
  static constexpr Info info{
      .name = "greedy_block",
      .summary = "block tests without clipping, compensated by a changed target in the next iterations",
      .source = "Sun et al. 2025, arXiv:2403.10444, appendix; formulas derived here",
      .drafts = DraftSamplings{"iid_paths"},
      .most_drafts = 1,
      .claims = {.accepts_equal_distributions = true}};

  template <class L, class R>
  DRAFTPROOF_DEVICE StepOutput verify(const DraftedTree<L>& at, const StateAt<L>& carry, R& random) const {
    using Scalar = typename L::Scalar;
    const LayeredPath<L> path(at, carry);
    const L& distributions = at.distributions(DraftTree::root);
    int i = path.length();
    if (random.flip(path.ratio(i), distributions.one())) return {path.node(i), random.emit(path.bonus())};
    while (--i > 0) {
      const Scalar& ratio = path.ratio(i);
      if (!(ratio > distributions.zero())) continue;
      // For R >= 1, D+ >= D-, so the test succeeds with certainty, and D-, which would be a difference, is not
      // needed.
      if (!(ratio < distributions.one())) break;
      const Scalar excess = path.excess(i);
      if (random.flip(excess, Scalar(excess + (distributions.one() - ratio)))) break;
    }
    // If rounding left no residual, the extra token is drawn from the present target.
    const Verdict corrected = random.emit(path.correction(i));
    return {path.node(i), corrected.token != no_token ? corrected : random.emit(path.weights(i))};
  }

  template <class L>
  DRAFTPROOF_DEVICE StateAt<L> after(const DraftedTree<L>& at, const StateAt<L>& carry,
                                     const StepOutput& step) const {
    return LayeredPath<L>::after(at, carry, at.tree().depth(step.node), step.extra.token);
  }
};

}  // namespace draftproof::verifiers::paths
