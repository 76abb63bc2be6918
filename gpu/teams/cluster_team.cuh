// A cluster of blocks on neighbouring multiprocessors that read each other's shared memory (compute capability 9 and
// later). Each block holds one partition of the vocabulary.
//
// put() and put_first() write a value to the scratch of every block, so that after the barrier each block reads its
// local memory: this takes 8 remote stores per segment instead of 8 remote loads per segment and warp. A block must not
// end before all others have read its memory, so every thread calls leave() at the end.
#pragma once

#include <draftproof/gpu/teams/partitions.cuh>
#include <draftproof/gpu/teams/team.hpp>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#include <cooperative_groups.h>
#define DRAFTPROOF_CLUSTERS 1
#else
#define DRAFTPROOF_CLUSTERS 0
#endif

namespace draftproof::gpu {

/// `scratch` is the same variable in every block's shared memory. On older devices and on the host the class compiles
/// but must not run.
class ClusterTeam : public BlockPartition {
 public:
  DRAFTPROOF_DEVICE explicit ClusterTeam(TeamScratch* scratch) : BlockPartition({}), scratch_{scratch} {}

  DRAFTPROOF_DEVICE Fixed get(int segment) const { return scratch_->partial[segment]; }
  DRAFTPROOF_DEVICE Candidate first(int warp) const {
    return {scratch_->first[warp].time, scratch_->first[warp].token};
  }

#if DRAFTPROOF_CLUSTERS
  DRAFTPROOF_DEVICE int partition() const { return static_cast<int>(cluster().block_rank()); }
  DRAFTPROOF_DEVICE int partitions() const { return static_cast<int>(cluster().num_blocks()); }
  DRAFTPROOF_DEVICE void barrier() const { cluster().sync(); }
  DRAFTPROOF_DEVICE void leave() const { cluster().sync(); }
  DRAFTPROOF_DEVICE void put(int segment, Fixed sum) const {
    if (lane() < partitions()) of_partition(scratch_, lane())->partial[segment] = sum;
  }
  DRAFTPROOF_DEVICE void put_first(const Candidate& arrival) const {
    if (lane() < partitions())
      of_partition(scratch_, lane())->first[partition() * warps() + warp()] = {arrival.time, arrival.token};
  }
  /// Returns the address of `own`, which lies in this block's shared memory, in the shared memory of block `partition`.
  template <class T>
  DRAFTPROOF_DEVICE T* of_partition(T* own, int partition) const {
    return cluster().map_shared_rank(own, static_cast<unsigned>(partition));
  }

 private:
  DRAFTPROOF_DEVICE static cooperative_groups::cluster_group cluster() { return cooperative_groups::this_cluster(); }
#else
  DRAFTPROOF_DEVICE int partition() const { return 0; }
  DRAFTPROOF_DEVICE int partitions() const { return 1; }
  DRAFTPROOF_DEVICE void barrier() const {}
  DRAFTPROOF_DEVICE void leave() const {}
  DRAFTPROOF_DEVICE void put(int, Fixed) const {}
  DRAFTPROOF_DEVICE void put_first(const Candidate&) const {}
  template <class T>
  DRAFTPROOF_DEVICE T* of_partition(T* own, int) const {
    return own;
  }
#endif

 private:
  TeamScratch* scratch_;
};

static_assert(Team<ClusterTeam>);

}  // namespace draftproof::gpu
