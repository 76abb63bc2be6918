// Bug: row times pitch overflows 32-bit signed integers, so rows from entry 2^31 on are read from a wrong address.
// Source: vllm-project/vllm#46560. The bug has no effect in batches of at most 2^31 entries.
#pragma once

#include <draftproof/tests/support/gpu/kernel_mutant.hpp>

namespace draftproof::kernel_mutants {

struct RowOffsetInt32 : SoundKernel {
  static constexpr const char* name = "row_offset_int32";

  DRAFTPROOF_DEVICE static gpu::RowView<float> rows(const gpu::Batch<float>& batch, std::int64_t position, int) {
    return {batch.target + wrapped(position, batch.target_stride),
            batch.proposal + wrapped(position, batch.proposal_stride), batch.vocabulary};
  }

 private:
  DRAFTPROOF_DEVICE static std::int32_t wrapped(std::int64_t row, std::int64_t pitch) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(row) * static_cast<std::uint32_t>(pitch));
  }
};

}  // namespace draftproof::kernel_mutants
