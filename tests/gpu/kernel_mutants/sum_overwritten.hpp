// Bug: there is no barrier before a pass, so a fast warp overwrites sums that a slower warp still reads; the mutant
// stale_block_sum omits the barrier after writing. The bug has no effect in a team of one warp, or if verifying a
// position takes one pass only.
#pragma once

#include <draftproof/tests/support/gpu/kernel_mutant.hpp>

namespace draftproof::kernel_mutants {

struct SumOverwritten : SoundKernel {
  static constexpr const char* name = "sum_overwritten";
  template <class T>
  using Team = MissingBarrier<T, 0>;
};

}  // namespace draftproof::kernel_mutants
