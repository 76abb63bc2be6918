// Verification by clusters: the kernel and its launch, for compute capability 9 and later. The build compiles it
// apart from the other mappings, which run on every device. One kernel per verifier serves all formats, probabilities
// and logits, because rows are converted to float probabilities while they are copied to shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/gpu/positions/verify_kernel.cuh>
#include <draftproof/gpu/rows/stored_on_chip.cuh>
#include <draftproof/gpu/teams/cluster_launch.cuh>
#include <draftproof/gpu/teams/cluster_team.cuh>
#include <draftproof/gpu/verify_batch.hpp>

namespace draftproof::gpu {

static_assert(Position<DraftedPosition<TeamRows<OnChipRows<ClusterTeam>, ClusterTeam>>>);

template <class V>
__global__ void __launch_bounds__(cluster_threads, cluster_sharing)
    verify_by_cluster(const V verifier, const StoredBatch batch) {
#if !defined(__CUDA_ARCH__) || DRAFTPROOF_CLUSTERS
  extern __shared__ float4 slices[];
  __shared__ TeamScratch scratch;
  const ClusterTeam team(&scratch);
  const std::int64_t position = blockIdx.x / static_cast<unsigned>(team.partitions());
  const bool tells = team.partition() == 0 && threadIdx.x == 0;
  if (batch.refused(position)) {  // all blocks of the cluster return
    if (tells) batch.verdicts[position] = {};
    return;
  }
  const auto [rows, fault] = bring_on_chip(batch, position, team, reinterpret_cast<float*>(slices));
  Verdict verdict;
  if (fault == no_fault) verdict = decide(verifier, batch, position, TeamRows(rows, team));
  if (tells) {
    batch.verdicts[position] = verdict;
    if (fault != no_fault && batch.faults != nullptr) batch.faults[position] = fault;
  }
  team.leave();
#endif
}

template <class V>
void verify_clusters(const V& verifier, const StoredBatch& batch, int partitions, Stream stream) {
  if constexpr (!V::info.unsupported.device.empty()) {
    no_kernel(V::info.name, V::info.unsupported.device);
  } else if constexpr (plan_bytes<V> > 0) {
    no_kernel(V::info.name, "its plan leaves the rows of a cluster too little shared memory");
  } else {
    const std::size_t shared =
        on_chip_bytes(on_chip_layout(batch.vocabulary, WarpLanes::lanes(), partitions).slice());
    for_positions_of_grids(batch.positions, partitions, [&](std::int64_t first, int count) {
      launch_clusters(verify_by_cluster<V>, count, partitions, cluster_threads, shared, stream, verifier,
                      batch.part(first, count));
    });
  }
}

}  // namespace draftproof::gpu
