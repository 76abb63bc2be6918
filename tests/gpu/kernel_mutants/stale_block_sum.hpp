// Bug: there is no barrier between writing and reading the warps' sums, so a warp may add a sum of the previous
// position, or memory to which a sum is not yet written. Source: flashinfer-ai/flashinfer#424. The bug has no effect in
// a team of one warp.
#pragma once

#include <draftproof/tests/support/gpu/kernel_mutant.hpp>

namespace draftproof::kernel_mutants {

struct StaleBlockSum : SoundKernel {
  static constexpr const char* name = "stale_block_sum";
  template <class T>
  using Team = MissingBarrier<T, 1>;
};

}  // namespace draftproof::kernel_mutants
