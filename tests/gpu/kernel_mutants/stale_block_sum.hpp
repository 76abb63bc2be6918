// Bug: no barrier between writing and reading the warps' sums, so a warp may add a sum of the last position, or a sum
// that is not yet written. Source: flashinfer-ai/flashinfer#424. Without effect in a team of one warp.
#pragma once

#include <draftproof/tests/support/gpu/kernel_mutant.hpp>

namespace draftproof::kernel_mutants {

struct StaleBlockSum : SoundKernel {
  static constexpr const char* name = "stale_block_sum";
  template <class T>
  using Team = MissingBarrier<T, 1>;
};

}  // namespace draftproof::kernel_mutants
