// Teams whose threads share one multiprocessor: a block, and a warp of a block that works for itself.
#pragma once

#include <draftproof/gpu/teams/team.hpp>
#include <draftproof/gpu/teams/warp_lanes.cuh>

namespace draftproof::gpu {

/// What a team leaves to each other in memory that all of its threads can read.
class SharedScratch {
 public:
  DRAFTPROOF_DEVICE explicit SharedScratch(TeamScratch* scratch, TeamMemory memory = {})
      : scratch_{scratch}, memory_{memory} {}

  DRAFTPROOF_DEVICE Fixed get(int segment) const { return scratch_->partial[segment]; }
  DRAFTPROOF_DEVICE Arrival first(int warp) const {
    return {scratch_->first[warp].time, scratch_->first[warp].token};
  }
  DRAFTPROOF_DEVICE TeamMemory memory() const { return memory_; }

 protected:
  DRAFTPROOF_DEVICE void write(int segment, Fixed sum) const { scratch_->partial[segment] = sum; }
  DRAFTPROOF_DEVICE void write_first(int warp, const Arrival& arrival) const {
    scratch_->first[warp] = {arrival.time, arrival.token};
  }

 private:
  TeamScratch* scratch_;
  TeamMemory memory_;
};

/// A block; its scratch lies in shared memory.
class BlockTeam : public BlockWarps, public SharedScratch {
 public:
  using SharedScratch::SharedScratch;

  DRAFTPROOF_DEVICE static constexpr int share() { return 0; }
  DRAFTPROOF_DEVICE static constexpr int shares() { return 1; }
  DRAFTPROOF_DEVICE void put(int segment, Fixed sum) const {
    if (lane() == 0) write(segment, sum);
  }
  DRAFTPROOF_DEVICE void put_first(const Arrival& arrival) const {
    if (lane() == 0) write_first(warp(), arrival);
  }
#if defined(__CUDA_ARCH__)
  DRAFTPROOF_DEVICE void barrier() const { __syncthreads(); }
#else
  DRAFTPROOF_DEVICE void barrier() const {}
#endif
};

/// One warp of a block; the warps of a block work on positions of their own, each with a scratch.
class WarpTeam : public WarpLanes, public SharedScratch {
 public:
  using SharedScratch::SharedScratch;

  DRAFTPROOF_DEVICE static constexpr int share() { return 0; }
  DRAFTPROOF_DEVICE static constexpr int shares() { return 1; }
  DRAFTPROOF_DEVICE static constexpr int warp() { return 0; }
  DRAFTPROOF_DEVICE static constexpr int warps() { return 1; }
  DRAFTPROOF_DEVICE void put(int segment, Fixed sum) const {
    if (lane() == 0) write(segment, sum);
  }
  DRAFTPROOF_DEVICE void put_first(const Arrival& arrival) const {
    if (lane() == 0) write_first(0, arrival);
  }
  DRAFTPROOF_DEVICE void barrier() const { warp_barrier(); }
  DRAFTPROOF_DEVICE void share_barrier() const { warp_barrier(); }
};

static_assert(Team<BlockTeam> && Team<WarpTeam>);

}  // namespace draftproof::gpu
