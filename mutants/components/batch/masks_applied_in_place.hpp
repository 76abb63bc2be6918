// Mutant: applies masks to the target rows where they lie and restores the rows when the batch is done. The outputs
// are right where every request has rows of its own.
//
//   saved_    entries that were written, with what they were
//
// sim/components/chain_steps.hpp has steps, symbols and cost.
// Source: derived here, after in-place logits processors of engines.
// Error: a request that shares its row with a masked one is masked, too.
// Hidden: where rows are not shared and nobody looks between two draws.
#pragma once

#include <utility>

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::mutants::components::batch {

struct MasksAppliedInPlace : ChainSteps {
  static constexpr ComponentInfo info{
      .name = "masks_applied_in_place",
      .summary = "masks are written into the target rows and taken out after the batch",
      .source = "derived here"};

  int tested(const RaggedBatch& batch, int slot) const {
    for (int i = 0; batch.mask && i <= batch.length[slot]; ++i) {
      const std::int64_t row = target_row(batch, slot) + i;
      auto* weights = const_cast<float*>(batch.target) + offset(row, batch.pitch);
      for (Token x = 0; x < batch.vocabulary; ++x)
        if (batch.mask[row * batch.vocabulary + x] == 0) {
          saved_.emplace_back(weights + x, weights[x]);
          weights[x] = 0;
        }
    }
    return ChainSteps::tested(batch, slot);
  }
  void write(const RaggedBatch& batch, const std::vector<ChainResult>& results, std::vector<Token>& tokens) const {
    for (; !saved_.empty(); saved_.pop_back()) *saved_.back().first = saved_.back().second;
    ChainSteps::write(batch, results, tokens);
  }

 private:
  mutable std::vector<std::pair<float*, float>> saved_;
};

}  // namespace draftproof::mutants::components::batch
