// Mutants of batch runners: rows of another request, or of another address. `Hidden` says where a bug does not show.
#pragma once

#include <utility>

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::mutants::components::batch {

// Mutant: finds mask rows by counting the tokens that earlier slots kept, as if masks had been trimmed with the
// output. The slot after a refusal reads its neighbour's masks.
//
// sim/components/chain_steps.hpp describes steps, symbols and cost.
// Source: vllm-project/vllm#49738.
// Hidden: while masks are equal, and under full acceptance.
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

// Mutant: applies masks to the target rows where they lie and restores the rows when the batch is done. The outputs are
// right if no two requests share a row.
//
//   saved_    entries that were written, with their old values
//
// sim/components/chain_steps.hpp describes steps, symbols and cost.
// Source: derived here, after in-place logits processors of engines.
// Error: a request that shares its row with a masked request is masked, too.
// Hidden: if no two requests share a row and no check reads the rows between two draws.

struct MasksAppliedInPlace : ChainSteps {
  static constexpr ComponentInfo info{.name = "masks_applied_in_place",
                                      .summary = "masks are written into the target rows and removed after the batch",
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

// Mutant: gathers proposal rows with the offsets of the layout before compaction, L rows a request. All requests after
// a request with fewer than L drafts are verified with wrong rows.
//
//   L        longest      columns of the padded drafts
//
// sim/components/chain_steps.hpp describes the other symbols and the cost. An offset beyond the array wraps, so that
// reads stay inside the array.
// Source: NVIDIA/TensorRT-LLM#12588, found in review.
// Hidden: while all requests have the same number of drafts.

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

// Mutant: caches proposal rows by slot. After the batch is reordered a request is verified with rows of another
// request.
//
// sim/components/chain_steps.hpp describes steps, symbols and cost.
// Source: vllm-project/vllm#41044, found in review.
// Hidden: while slots keep their requests between drafting and verification.
struct ProposalsNotPermuted : ChainSteps {
  static constexpr ComponentInfo info{
      .name = "proposals_not_permuted",
      .summary = "proposal rows are read at the current slot, although they were drafted in another",
      .source = "vllm-project/vllm#41044"};

  std::int64_t proposal_row(const RaggedBatch& batch, int slot) const {
    std::int64_t row = 0;
    for (int s = 0; s < slot; ++s) row += batch.length[s];
    return row;
  }
};

// Mutant: computes the offset of a row in 32 bits, which wraps. Rows beyond 2^31 elements are read from before the
// array.
//
// sim/components/chain_steps.hpp describes steps, symbols and cost. The product is computed modulo 2^32, the result of
// a signed overflow on machines with two's complement.
// Source: vllm-project/vllm#46560.
// Hidden: in arrays of fewer than 2^31 elements.
struct RowOffsetInt32 : ChainSteps {
  static constexpr ComponentInfo info{.name = "row_offset_int32",
                                      .summary = "the offset of a row (row times pitch) is a signed 32-bit product",
                                      .source = "vllm-project/vllm#46560"};

  std::int64_t offset(std::int64_t row, std::int64_t pitch) const {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(row) * static_cast<std::uint32_t>(pitch));
  }
};

// Mutant: computes the offset of a row in 32 bits without a sign. Rows beyond 2^32 elements are read from the
// beginning of the array; rows between 2^31 and 2^32 elements, where a signed offset is wrong, are right.
//
// sim/components/chain_steps.hpp describes steps, symbols and cost.
// Source: derived here, as an insufficient repair of row_offset_int32.
// Hidden: in arrays of fewer than 2^32 elements.
struct RowOffsetUint32 : ChainSteps {
  static constexpr ComponentInfo info{
      .name = "row_offset_uint32",
      .summary = "the offset of a row (row times pitch) is an unsigned 32-bit product",
      .source = "derived here"};

  std::int64_t offset(std::int64_t row, std::int64_t pitch) const {
    return static_cast<std::uint32_t>(row) * static_cast<std::uint32_t>(pitch);
  }
};

}  // namespace draftproof::mutants::components::batch
