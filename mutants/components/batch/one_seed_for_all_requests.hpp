// Every request without a seed of its own starts the same stream of the engine's seed: each row has its law, all rows
// have the same words.
//
// Steps, symbols and cost: sim/components/chain_steps.hpp. Source: NVIDIA/TensorRT-LLM#19487.
// Hidden from any look at one row; two rows of one law agree always.
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
