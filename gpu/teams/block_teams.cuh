// The team within one multiprocessor: a block.
#pragma once

#include <draftproof/gpu/teams/partitions.cuh>
#include <draftproof/gpu/teams/team.hpp>

namespace draftproof::gpu {

/// The scratch of a team in memory that all of its threads can read.
class SharedScratch {
 public:
  DRAFTPROOF_DEVICE explicit SharedScratch(TeamScratch* scratch) : scratch_{scratch} {}

  DRAFTPROOF_DEVICE Fixed get(int segment) const { return scratch_->partial[segment]; }
  DRAFTPROOF_DEVICE Candidate first(int warp) const {
    return {scratch_->first[warp].time, scratch_->first[warp].token};
  }
#if defined(__CUDA_ARCH__)
  DRAFTPROOF_DEVICE void add_to_sum(int i, Fixed sum) const { add_to(scratch_->partial + i, sum); }
#else
  DRAFTPROOF_DEVICE void add_to_sum(int i, Fixed sum) const { scratch_->partial[i] += sum; }
#endif

 protected:
  DRAFTPROOF_DEVICE void write(int segment, Fixed sum) const { scratch_->partial[segment] = sum; }
  DRAFTPROOF_DEVICE void write_first(int warp, const Candidate& arrival) const {
    scratch_->first[warp] = {arrival.time, arrival.token};
  }

 private:
  TeamScratch* scratch_;
};

/// A block; its scratch lies in shared memory.
class BlockTeam : public BlockPartition, public SharedScratch {
 public:
  DRAFTPROOF_DEVICE explicit BlockTeam(TeamScratch* scratch, TeamMemory memory = {})
      : BlockPartition(memory), SharedScratch(scratch) {}

  DRAFTPROOF_DEVICE static constexpr int partition() { return 0; }
  DRAFTPROOF_DEVICE static constexpr int partitions() { return 1; }
  DRAFTPROOF_DEVICE void put(int segment, Fixed sum) const {
    if (lane() == 0) write(segment, sum);
  }
  DRAFTPROOF_DEVICE void put_first(const Candidate& arrival) const {
    if (lane() == 0) write_first(warp(), arrival);
  }
#if defined(__CUDA_ARCH__)
  DRAFTPROOF_DEVICE void barrier() const { __syncthreads(); }
#else
  DRAFTPROOF_DEVICE void barrier() const {}
#endif
};

static_assert(Team<BlockTeam>);

}  // namespace draftproof::gpu
