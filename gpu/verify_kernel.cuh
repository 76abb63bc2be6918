// The kernel of a verifier: one block per position, whose threads prepare and verify together.
//
// Every thread computes the position's randomness itself, so all take the same branches and meet at every
// barrier.
#pragma once

#include <cstdint>

#include <draftproof/gpu/batch.hpp>
#include <draftproof/gpu/block_rows.cuh>
#include <draftproof/sim/philox.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::gpu {

/// Threads of a block: 16 warps keep enough loads in flight for one block on a multiprocessor.
inline constexpr int verify_threads = 512;

/// Grid: batch.positions blocks of verify_threads. A branch of probability zero leaves no_token in the
/// verdict. The bound of one block keeps the compiler from spilling registers to make room for a second.
template <class V, class Entry>
__global__ void __launch_bounds__(verify_threads, 1) verify_kernel(const V verifier, const Batch<Entry> batch) {
  __shared__ BlockScratch scratch;
  const std::int64_t position = blockIdx.x;
  const int count = batch.counts[position];
  const BlockRows<Entry> laws(batch.rows(position), &scratch);
  const At<BlockRows<Entry>> at(laws, batch.drafts_at(position), count);
  const auto plan = prepare(verifier, laws, count);
  Philox random(batch.seed, batch.first_trial + static_cast<std::uint64_t>(position), Philox::Role::verify);
  const Verdict verdict = verify(verifier, at, plan, random);
  if (threadIdx.x == 0) batch.verdicts[position] = verdict;
}

}  // namespace draftproof::gpu
