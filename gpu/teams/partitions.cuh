// The threads of a partition, a block or a single warp, and the memory in which they make plans. The code of plans
// depends on these types only, so it is compiled once for all teams of blocks.
#pragma once

#include <draftproof/gpu/teams/team.hpp>
#include <draftproof/gpu/teams/warp_lanes.cuh>

namespace draftproof::gpu {

class BlockShare : public BlockWarps {
 public:
  DRAFTPROOF_DEVICE explicit BlockShare(TeamMemory memory) : memory_{memory} {}

  DRAFTPROOF_DEVICE TeamMemory memory() const { return memory_; }
  DRAFTPROOF_DEVICE const BlockShare& own_share() const { return *this; }
#if defined(__CUDA_ARCH__)
  DRAFTPROOF_DEVICE void share_barrier() const { __syncthreads(); }
#else
  DRAFTPROOF_DEVICE void share_barrier() const {}
#endif

 private:
  TeamMemory memory_;
};

class WarpShare : public WarpLanes {
 public:
  DRAFTPROOF_DEVICE explicit WarpShare(TeamMemory memory) : memory_{memory} {}

  DRAFTPROOF_DEVICE static constexpr int warp() { return 0; }
  DRAFTPROOF_DEVICE static constexpr int warps() { return 1; }
  DRAFTPROOF_DEVICE TeamMemory memory() const { return memory_; }
  DRAFTPROOF_DEVICE const WarpShare& own_share() const { return *this; }
  DRAFTPROOF_DEVICE void share_barrier() const { warp_barrier(); }

 private:
  TeamMemory memory_;
};

static_assert(Share<BlockShare> && Share<WarpShare>);

}  // namespace draftproof::gpu
