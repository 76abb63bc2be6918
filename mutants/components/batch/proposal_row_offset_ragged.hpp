// Mutant: gathers proposal rows with the offsets of the layout before compaction, L rows a request. Rows after a
// short request are shifted.
//
//   L        longest      columns of the padded drafts
//
// sim/components/chain_steps.hpp has other symbols and cost. An offset beyond the array wraps, so that reads stay
// inside the array.
// Source: NVIDIA/TensorRT-LLM#12588, found in review.
// Hidden: while all requests have the same number of drafts.
#pragma once

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::mutants::components::batch {

struct ProposalRowOffsetRagged : ChainSteps {
  static constexpr ComponentInfo info{.name = "proposal_row_offset_ragged",
                                      .summary = "proposal rows are found as if every request had L of them",
                                      .source = "NVIDIA/TensorRT-LLM#12588"};

  std::int64_t proposal_row(const RaggedBatch& batch, int slot) const {
    std::int64_t rows = 0;
    for (int s = 0; s < batch.slots; ++s) rows += batch.length[s];
    return std::int64_t{batch.drafted_at[slot]} * batch.longest % (rows - batch.length[slot] + 1);
  }
};

}  // namespace draftproof::mutants::components::batch
