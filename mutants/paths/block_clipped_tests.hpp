// Mutant: block verification whose test at i uses the clipped product itself, not the ratio A_i / (A_i + 1 - c_i).
//
//   c_i      clipped[i]     probability to stop at i or below, given the path; not the probability of test i
//
// Where there is nothing to correct it draws from p.
// Source: the threshold half of vllm-project/vllm-ascend#7807.
// Error: test i is made only after the tests behind it failed. It accepts more than block verification.
// Hidden: at L = 1 and at p = q.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof::mutants::paths {

struct BlockClippedTests {
  static constexpr Info info{.name = "block_clipped_tests",
                             .summary = "block verification with the clipped product in place of the test's ratio",
                             .source = "threshold slip reported as vllm-project/vllm-ascend#7807",
                             .drafts = DraftLaws{"iid_paths"},
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
            random.emit(steps.laws(i).residual(served ? Scalar(steps.one() / clipped[i]) : steps.zero()))};
  }
};

}  // namespace draftproof::mutants::paths
