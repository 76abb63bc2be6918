// token_chain with the offsets of rows computed four slots at a time and kept. Correct, although it keeps them from
// call to call: the first slot of a call begins a new list.
//
//   begin_    first target row of each slot
//
// Steps, symbols and cost: sim/components/chain_steps.hpp.
// Correctness: slots are verified in their order, so a call asks for slot 0 before it asks for another.
// Source: prefix sums of ragged batches in engines.
#pragma once

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::components::batch {

struct OffsetsByChunk : ChainSteps {
  static constexpr ComponentInfo info{.name = "offsets_by_chunk",
                                      .summary = "offsets of rows are computed for four slots at a time and kept",
                                      .source = "prefix sums of ragged batches in engines",
                                      .chunk = 4};

  std::int64_t target_row(const RaggedBatch& batch, int slot) const {
    const auto s = static_cast<std::size_t>(slot);
    if (slot == 0) begin_.assign(1, 0);
    while (begin_.size() <= s)
      for (int n = 0; n < info.chunk; ++n) {
        const auto last = begin_.size() - 1;
        begin_.push_back(begin_.back() + (static_cast<int>(last) < batch.slots ? batch.length[last] + 1 : 0));
      }
    return begin_[s];
  }
  std::int64_t mask_row(const RaggedBatch& batch, int slot, const std::vector<ChainResult>&) const {
    return target_row(batch, slot);
  }

 private:
  mutable std::vector<std::int64_t> begin_;
};

}  // namespace draftproof::components::batch
