// Mutant: works on eight slots at a time and reads a request's seed, number and position at the slot's place in its
// chunk. From the ninth slot on these are another request's.
//
// sim/components/chain_steps.hpp has steps, symbols and cost.
// Source: derived here, after kernels that index a table of settings by the lane.
// Error: two requests read the same words.
// Hidden: in batches of at most eight requests.
#pragma once

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::mutants::components::batch {

struct SettingsOfSlotInChunk : ChainSteps {
  static constexpr ComponentInfo info{.name = "settings_of_slot_in_chunk",
                                      .summary = "from the ninth slot on a request has the words of another",
                                      .source = "derived here",
                                      .chunk = 8};

  StreamAddress address(const RaggedBatch& batch, int slot, int i) const {
    return ChainSteps::address(batch, slot % info.chunk, i);
  }
};

}  // namespace draftproof::mutants::components::batch
