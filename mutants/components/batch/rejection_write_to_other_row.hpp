// Mutant: writes corrected tokens with an index product of rows and columns. Each refusing row also gets its token in
// the refused columns of all other rows, over tokens that it had accepted.
//
// sim/components/chain_steps.hpp has steps, symbols and cost.
// Source: Dao-AILab/flash-attention#2779.
// Hidden: while all rows refuse at the same position.
#pragma once

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::mutants::components::batch {

struct RejectionWriteToOtherRow : ChainSteps {
  static constexpr ComponentInfo info{.name = "rejection_write_to_other_row",
                                      .summary = "corrections are written at the refused columns of all rows",
                                      .source = "Dao-AILab/flash-attention#2779"};

  void write(const RaggedBatch& batch, const std::vector<ChainResult>& results, std::vector<Token>& tokens) const {
    ChainSteps::write(batch, results, tokens);
    const auto columns = static_cast<std::size_t>(batch.longest) + 1;
    const auto refuses = [&](std::size_t s) { return !results[s].refused && results[s].accepted < batch.length[s]; };
    for (std::size_t row = 0; row < results.size(); ++row)
      for (std::size_t other = 0; other < results.size(); ++other)
        if (refuses(row) && refuses(other))
          tokens[row * columns + static_cast<std::size_t>(results[other].accepted)] = results[row].extra;
  }
};

}  // namespace draftproof::mutants::components::batch
