// Mutant: tests all L columns of the padded drafts. Id -1 of a short row indexes the last entry and can be accepted.
//
//   L        longest      columns of the padded drafts
//
// sim/components/chain_steps.hpp has other symbols and cost. The index wraps as in array libraries, so the read stays
// inside the row.
// Source: flashinfer-ai/flashinfer#879.
// Hidden: while all rows are full.
#pragma once

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::mutants::components::batch {

struct PadIdTested : ChainSteps {
  static constexpr ComponentInfo info{
      .name = "pad_id_tested",
      .summary = "columns behind the drafts are tested too; id -1 indexes from the end",
      .source = "flashinfer-ai/flashinfer#879"};

  int tested(const RaggedBatch& batch, int slot) const { return batch.length[slot] > 0 ? batch.longest : 0; }
  Token entry(Token x, int vocabulary) const {
    return x == pad_id ? vocabulary - 1 : ChainSteps::entry(x, vocabulary);
  }
};

}  // namespace draftproof::mutants::components::batch
