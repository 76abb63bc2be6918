// Bug: lanes beyond V in the last tile take part with token ids from V on and the values stored after the row.
// Source: flashinfer-ai/flashinfer#3624. The bug has no effect if V is a multiple of the tile's size.
#pragma once

#include <draftproof/tests/support/gpu/kernel_mutant.hpp>

namespace draftproof::kernel_mutants {

struct PaddingLanesWin : SoundKernel {
  static constexpr const char* name = "padding_lanes_win";

  DRAFTPROOF_DEVICE static gpu::RowView<float> rows(const gpu::Batch<float>& batch, std::int64_t position,
                                                    int lanes) {
    gpu::RowView<float> view = batch.rows(position);
    view.vocabulary = (view.vocabulary + lanes - 1) / lanes * lanes;
    return view;
  }
};

}  // namespace draftproof::kernel_mutants
