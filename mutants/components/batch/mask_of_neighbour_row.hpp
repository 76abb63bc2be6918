// Mutant: finds mask rows by counting the tokens that earlier slots kept, as if masks had been trimmed with the
// output. The slot after a refusal reads its neighbour's masks.
//
// sim/components/chain_steps.hpp has steps, symbols and cost.
// Source: vllm-project/vllm#49738.
// Hidden: while masks are equal, and under full acceptance.
#pragma once

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::mutants::components::batch {

struct MaskOfNeighbourRow : ChainSteps {
  static constexpr ComponentInfo info{.name = "mask_of_neighbour_row",
                                      .summary = "mask rows are counted by emitted tokens, not by drafts",
                                      .source = "vllm-project/vllm#49738"};

  std::int64_t mask_row(const RaggedBatch&, int slot, const std::vector<ChainResult>& results) const {
    std::int64_t row = 0;
    for (int s = 0; s < slot; ++s) row += results[static_cast<std::size_t>(s)].accepted + 1;
    return row;
  }
};

}  // namespace draftproof::mutants::components::batch
