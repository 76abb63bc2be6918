// Blocks anywhere on the device that verify one position together, for devices without clusters. Each block holds one
// partition of the vocabulary, and they synchronize in device memory.
//
// At a barrier each block increments a counter and waits until all blocks have done so; hence all blocks of a team must
// run at once, which a cooperative launch ensures. The counter is never reset, so it serves any number of positions in
// turn. Values of other blocks are read past the first-level cache, which is not coherent.
#pragma once

#include <draftproof/gpu/teams/partitions.cuh>
#include <draftproof/gpu/teams/split_scratch.hpp>

namespace draftproof::gpu {

/// The blocks with equal blockIdx.y, numbered by blockIdx.x.
class SplitTeam : public BlockPartition {
 public:
  DRAFTPROOF_DEVICE explicit SplitTeam(SplitScratch* scratch, TeamMemory memory = {})
      : BlockPartition(memory), scratch_{scratch} {}

#if defined(__CUDA_ARCH__)
  DRAFTPROOF_DEVICE int partition() const { return static_cast<int>(blockIdx.x); }
  DRAFTPROOF_DEVICE int partitions() const { return static_cast<int>(gridDim.x); }
  DRAFTPROOF_DEVICE void barrier() const {
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      const unsigned ticket = atomicAdd(&scratch_->arrived, 1u), blocks = gridDim.x;
      const unsigned all = ticket / blocks * blocks + blocks;
      // Signed differences stay correct when the counter wraps around. The number of partitions is a power of two, so
      // the wrap falls between two barriers.
      while (static_cast<int>(*static_cast<volatile unsigned*>(&scratch_->arrived) - all) < 0) {
      }
      __threadfence();
    }
    __syncthreads();
  }
  DRAFTPROOF_DEVICE void add_to_sum(int i, Fixed sum) const { add_to(scratch_->told.partial + i, sum); }
  DRAFTPROOF_DEVICE Fixed get(int segment) const {
    return static_cast<Fixed>(__ldcg(reinterpret_cast<const long long*>(&scratch_->told.partial[segment])));
  }
  DRAFTPROOF_DEVICE Candidate first(int warp) const {
    const auto& first = scratch_->told.first[warp];
    return {__ldcg(&first.time), __ldcg(&first.token)};
  }
  /// Writes to `all` the sums over partitions of the `count` entries of `own`, by additions in device memory.
  DRAFTPROOF_DEVICE void add_up(const Fixed* own, Fixed* all, int count) const {
    Fixed* const sums = scratch_->sums;
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    barrier();  // a slower partition may still read the previous sums
    for (int i = partition() * threads + thread; i < count; i += partitions() * threads) sums[i] = 0;
    barrier();
    for (int i = thread; i < count; i += threads)
      if (own[i] != 0)
        atomicAdd(reinterpret_cast<unsigned long long*>(sums + i), static_cast<unsigned long long>(own[i]));
    barrier();
    for (int i = thread; i < count; i += threads)
      all[i] = static_cast<Fixed>(__ldcg(reinterpret_cast<const long long*>(sums + i)));
    partition_barrier();
  }
#else
  DRAFTPROOF_DEVICE int partition() const { return 0; }
  DRAFTPROOF_DEVICE int partitions() const { return 1; }
  DRAFTPROOF_DEVICE void barrier() const {}
  DRAFTPROOF_DEVICE void add_to_sum(int i, Fixed sum) const { scratch_->told.partial[i] += sum; }
  DRAFTPROOF_DEVICE Fixed get(int segment) const { return scratch_->told.partial[segment]; }
  DRAFTPROOF_DEVICE Candidate first(int) const { return {}; }
  DRAFTPROOF_DEVICE void add_up(const Fixed*, Fixed*, int) const {}
#endif
  DRAFTPROOF_DEVICE void put(int segment, Fixed sum) const {
    if (lane() == 0) scratch_->told.partial[segment] = sum;
  }
  DRAFTPROOF_DEVICE void put_first(const Candidate& arrival) const {
    if (lane() == 0) scratch_->told.first[partition() * warps() + warp()] = {arrival.time, arrival.token};
  }

 private:
  SplitScratch* scratch_;
};

static_assert(Team<SplitTeam>);

}  // namespace draftproof::gpu
