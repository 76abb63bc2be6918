// Greedy block verification that forgets, after each iteration, what the next one's target owes to this one.
//
// Source: greedy block verification of arXiv:2403.10444, appendix, without its modified target; hierarchical
// speculative decoding without caps and with a single draw at the end (arXiv:2601.05724) is the same rule. The first
// iteration is that of the right scheme, and each iteration is longer than it may be: wrong from the second on.
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
