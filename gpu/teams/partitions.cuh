// The threads of a partition, which is one block, and the memory in which they make plans. The code of plans
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

static_assert(Partition<BlockPartition>);

}  // namespace draftproof::gpu
