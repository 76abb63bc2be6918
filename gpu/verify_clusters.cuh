// Verification by clusters: the kernel and its launch, for compute capability 9 and later. The build compiles it
// apart from the other mappings, which run on every device.
#pragma once

#include <draftproof/gpu/cluster_launch.cuh>
#include <draftproof/gpu/cluster_team.cuh>
#include <draftproof/gpu/on_chip_rows.cuh>
#include <draftproof/gpu/verify_batch.hpp>
#include <draftproof/gpu/verify_kernel.cuh>

namespace draftproof::gpu {

static_assert(Position<At<TeamRows<OnChipRows<ClusterTeam>, ClusterTeam>>>);

template <class V, class Entry>
__global__ void __launch_bounds__(verify_threads, 1) verify_by_cluster(const V verifier, const Batch<Entry> batch) {
#if !defined(__CUDA_ARCH__) || DRAFTPROOF_CLUSTERS
  extern __shared__ float4 slices[];
  __shared__ TeamScratch scratch;
  const ClusterTeam team(&scratch);
  const std::int64_t position = blockIdx.x / static_cast<unsigned>(team.shares());
  const TeamRows laws(bring_on_chip(batch.rows(position), team, reinterpret_cast<float*>(slices)), team);
  const Verdict verdict = decide(verifier, batch, position, laws);
  if (team.share() == 0 && threadIdx.x == 0) batch.verdicts[position] = verdict;
  team.leave();
#endif
}

template <class V, class Entry>
void verify_clusters(const V& verifier, const Batch<Entry>& batch, int shares, Stream stream) {
  if constexpr (V::info.cannot.device.empty()) {
    const TeamLayout layout(batch.vocabulary, WarpLanes::lanes(), shares);
    launch_clusters(verify_by_cluster<V, Entry>, batch.positions, shares, verify_threads,
                    on_chip_bytes(layout.slice()), stream, verifier, batch);
  } else {
    no_kernel(V::info.name, V::info.cannot.device);
  }
}

}  // namespace draftproof::gpu
