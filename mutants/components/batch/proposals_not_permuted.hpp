// Mutant: caches proposal rows by slot. After the batch is reordered a request is verified with the rows of another
// one.
//
// sim/components/chain_steps.hpp has steps, symbols and cost.
// Source: vllm-project/vllm#41044, found in review.
// Hidden: while slots keep their requests between drafting and verification.
#pragma once

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::mutants::components::batch {

struct ProposalsNotPermuted : ChainSteps {
  static constexpr ComponentInfo info{.name = "proposals_not_permuted",
                                      .summary = "proposal rows are found by today's slot, drafted in another",
                                      .source = "vllm-project/vllm#41044"};

  std::int64_t proposal_row(const RaggedBatch& batch, int slot) const {
    std::int64_t row = 0;
    for (int s = 0; s < slot; ++s) row += batch.length[s];
    return row;
  }
};

}  // namespace draftproof::mutants::components::batch
