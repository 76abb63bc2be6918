// Mutant: greedy block verification that drops the modified target after each iteration.
//
// Source: greedy block verification of arXiv:2403.10444, appendix, without its modified target; hierarchical
// speculative decoding without caps and with a single draw at the end (arXiv:2601.05724) is the same rule.
// Error: each iteration accepts more than a stateless lossless rule can.
// Hidden: in the first iteration, which is that of the right scheme.
#pragma once

#include <draftproof/verifiers/paths/greedy_block.hpp>

namespace draftproof::mutants::paths {

struct GreedyBlockWithoutCarry {
  static constexpr Info info{.name = "greedy_block_without_carry",
                             .summary = "greedy block verification that carries nothing",
                             .source = "Sun et al. 2025, arXiv:2403.10444, appendix, without the state",
                             .drafts = DraftLaws{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "greedy_block"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return verifiers::paths::GreedyBlock{}.verify(at, VerifierState<typename L::Scalar>{}, random);
  }
};

}  // namespace draftproof::mutants::paths
