// The threads of a partition, a block or a single warp, and the memory in which they make plans. The code of plans
// depends on these types only, so it is compiled once for all teams of blocks.
#pragma once

#include <draftproof/gpu/teams/team.hpp>
#include <draftproof/gpu/teams/warp_lanes.cuh>

namespace draftproof::gpu {

class BlockPartition : public BlockWarps {
 public:
  DRAFTPROOF_DEVICE explicit BlockPartition(TeamMemory memory) : memory_{memory} {}

  DRAFTPROOF_DEVICE TeamMemory memory() const { return memory_; }
  DRAFTPROOF_DEVICE const BlockPartition& own_partition() const { return *this; }
#if defined(__CUDA_ARCH__)
  DRAFTPROOF_DEVICE void partition_barrier() const { __syncthreads(); }
#else
  DRAFTPROOF_DEVICE void partition_barrier() const {}
#endif

 private:
  TeamMemory memory_;
};

class WarpPartition : public WarpLanes {
 public:
  DRAFTPROOF_DEVICE explicit WarpPartition(TeamMemory memory) : memory_{memory} {}

  DRAFTPROOF_DEVICE static constexpr int warp() { return 0; }
  DRAFTPROOF_DEVICE static constexpr int warps() { return 1; }
  DRAFTPROOF_DEVICE TeamMemory memory() const { return memory_; }
  DRAFTPROOF_DEVICE const WarpPartition& own_partition() const { return *this; }
  DRAFTPROOF_DEVICE void partition_barrier() const { warp_barrier(); }

 private:
  TeamMemory memory_;
};

static_assert(Partition<BlockPartition> && Partition<WarpPartition>);

}  // namespace draftproof::gpu
