// Mutants: wrong block verification of one path. `Hidden` says where a bug does not show.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>
#include <draftproof/verifiers/paths/greedy_block.hpp>

namespace draftproof::mutants::paths {

// Mutant: block verification whose test at i succeeds with probability c_i, the clipped product, not with probability
// A_i / (A_i + 1 - c_i) (verifiers/paths/block/block_rule.hpp).
//
//   c_i      clipped[i]     probability of stopping at i or below, given the path; not the probability of test i
//
// If the residual is empty, the correction is drawn from p.
// Source: vllm-project/vllm-ascend#7807, which reports two bugs; this is the bug of the threshold.
// Error: test i is made only after the tests of longer prefixes failed. With c_i as its probability, more is accepted
// than in block verification.
// Hidden: at L = 1 and at p = q.
struct BlockClippedTests {
  static constexpr Info info{.name = "block_clipped_tests",
                             .summary = "block verification with the clipped product in place of the test's ratio",
                             .source = "threshold bug reported as vllm-project/vllm-ascend#7807",
                             .drafts = DraftSamplings{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "block"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    using Scalar = typename L::Scalar;
    const PlainSteps<L> steps(at);
    Scalar clipped[max_path_length + 1];
    clip_products(steps, clipped);
    int i = steps.length();
    if (random.flip(clipped[i], steps.one())) return {steps.node(i), random.emit(steps.bonus())};
    do --i;
    while (i > 0 && !random.flip(clipped[i], steps.one()));
    const bool served = steps.excess(i, clipped[i]) > steps.zero();
    return {steps.node(i),
            random.emit(steps.distributions(i).residual(served ? Scalar(steps.one() / clipped[i]) : steps.zero()))};
  }
};

// Mutant: block verification that corrects with the residual of token verification, (p - q)+ in place of (c p - q)+.
//
//   c_i      clipped[i]     clipped product of ratios after i tokens (verifiers/paths/block/block_rule.hpp)
//
// Source: vllm-project/vllm-ascend#7807.
// Error: the correction has the wrong distribution wherever c < 1.
// Hidden: in the number of accepted tokens and the first token; at V = 2, where both residuals are one token, and at
// L = 1.
struct BlockTokenResidual {
  static constexpr Info info{.name = "block_token_residual",
                             .summary = "block verification corrected with (p - q)+",
                             .source = "bug reported as vllm-project/vllm-ascend#7807",
                             .drafts = DraftSamplings{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "block"};

  template <class L>
  struct Steps : PlainSteps<L> {
    using Scalar = typename L::Scalar;
    using PlainSteps<L>::PlainSteps;
    auto correction(int i, const Scalar&) const { return PlainSteps<L>::correction(i, this->one()); }
  };

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return verify_block(Steps<L>(at), random);
  }
};

// Mutant: greedy block verification that drops the modified target after each iteration.
//
// Source: greedy block verification of arXiv:2403.10444, appendix, without its modified target; hierarchical
// speculative decoding without caps and with a single draw at the end (arXiv:2601.05724) is the same rule.
// Error: each iteration accepts more than a stateless lossless rule can.
// Hidden: in the first iteration, for which the right scheme has no modified target either.
struct GreedyBlockWithoutCarry {
  static constexpr Info info{.name = "greedy_block_without_carry",
                             .summary = "greedy block verification without the state that it should carry",
                             .source = "Sun et al. 2025, arXiv:2403.10444, appendix, without the state",
                             .drafts = DraftSamplings{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "greedy_block"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return verifiers::paths::GreedyBlock{}.verify(at, VerifierState<typename L::Scalar>{}, random);
  }
};

// Mutant: hierarchical speculative decoding capped at the last index where the ratio of the token and the product
// both exceed 1, not at the index of the largest product so far.
//
//   R_i      product        of p / q over i tokens
//   g_i      capped[i]      product since the last index i or earlier with p / q > 1 and R > 1, at most 1
//
// Source: wording of appendix C.3 of arXiv:2601.05724.
// Error: a later peak that is smaller than an earlier peak restarts the product.
// Hidden: up to L = 3, where it equals block verification.

struct HsdLastIndex {
  static constexpr Info info{
      .name = "hsd_last_index",
      .summary = "block verification whose product of ratios restarts at the last index where it exceeds 1",
      .source = "wording of arXiv:2601.05724, appendix C.3",
      .drafts = DraftSamplings{"iid_paths"},
      .most_drafts = 1,
      .derived_from = "block"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    using Scalar = typename L::Scalar;
    const PlainSteps<L> steps(at);
    const Scalar one = steps.one();
    Scalar capped[max_path_length + 1], product = one, last = one;
    capped[0] = one;
    for (int i = 0; i < steps.length(); ++i) {
      const Scalar ratio = steps.target(i) / steps.proposal(i);
      product *= ratio;
      last = capped[i] * ratio;  // test i uses the value before the cap at index i
      capped[i + 1] = ratio > one && product > one ? one : last;
    }
    const int length = steps.length();
    if (random.flip(last, one)) return {steps.node(length), random.emit(steps.bonus())};
    return verify_above_end(steps, capped, random);
  }
};

// Mutant: hierarchical speculative decoding as in its repository: block verification whose last test uses the product
// of ratios without a cap.
//
//   R_L      product          of p / q over the whole path
//   c_i      clipped[i]       clipped product after i tokens (verifiers/paths/block/block_rule.hpp)
//
// Source: ZhouYuxuanYX/Hierarchical-Speculative-Decoding; the paper, arXiv:2601.05724, caps the product.
// Error: wrong wherever R exceeds 1 before the end and then falls: docs/findings/hsd.md.
// Hidden: in first tokens, which keep their distribution.

struct HsdRepository {
  static constexpr Info info{.name = "hsd_repository",
                             .summary = "block verification with an uncapped product in the last test",
                             .source = "ZhouYuxuanYX/Hierarchical-Speculative-Decoding",
                             .drafts = DraftSamplings{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "block"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    const PlainSteps<L> steps(at);
    typename L::Scalar clipped[max_path_length + 1];
    clip_products(steps, clipped);
    auto product = steps.one();
    for (int i = 0; i < steps.length(); ++i) product *= steps.target(i) / steps.proposal(i);
    if (random.flip(product, steps.one())) return {steps.node(steps.length()), random.emit(steps.bonus())};
    return verify_above_end(steps, clipped, random);
  }
};

}  // namespace draftproof::mutants::paths
