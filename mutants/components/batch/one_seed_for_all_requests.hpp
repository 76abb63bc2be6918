// Mutant: every request without its own seed starts the same stream of the engine's seed. Each row has its law, but
// all rows read the same words.
//
// sim/components/chain_steps.hpp has steps, symbols and cost.
// Source: NVIDIA/TensorRT-LLM#19487.
// Hidden: in tests of one row; two rows of one law always agree.
#pragma once

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::mutants::components::batch {

struct OneSeedForAllRequests : ChainSteps {
  static constexpr ComponentInfo info{.name = "one_seed_for_all_requests",
                                      .summary = "requests without a seed share one stream",
                                      .source = "NVIDIA/TensorRT-LLM#19487"};

  StreamAddress address(const RaggedBatch& batch, int slot, int i) const {
    StreamAddress own = ChainSteps::address(batch, slot, i);
    if (!batch.request[slot].seeded) own.stream = 1;
    return own;
  }
};

}  // namespace draftproof::mutants::components::batch
