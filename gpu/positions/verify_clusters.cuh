// Verification by clusters: the kernel and its launch, for compute capability 9 and later. The build compiles it
// apart from the other mappings, which run on every device. One kernel per verifier serves every format and contents,
// which matter only while rows are brought on chip.
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

/// Bytes of a block's rows, rounded up to 16 so that the plan behind them is aligned.
DRAFTPROOF_DEVICE inline std::size_t cluster_rows_bytes(int vocabulary, int partitions) {
  return (on_chip_bytes(on_chip_layout(vocabulary, WarpLanes::lanes(), partitions).slice()) + 15) / 16 * 16;
}

/// A block's memory for its plan, behind the rows.
template <class V>
__device__ TeamMemory cluster_plan_memory(unsigned char* rows, int vocabulary) {
  constexpr std::size_t bytes = plan_bytes<V>;
  if constexpr (bytes > 0) return {rows + cluster_rows_bytes(vocabulary, ClusterTeam(nullptr).partitions()), bytes};
  return {};
}

template <class V>
__global__ void __launch_bounds__(verify_threads, 1) verify_by_cluster(const V verifier, const StoredBatch batch) {
#if !defined(__CUDA_ARCH__) || DRAFTPROOF_CLUSTERS
  extern __shared__ float4 slices[];
  __shared__ TeamScratch scratch;
  const ClusterTeam team(&scratch,
                         cluster_plan_memory<V>(reinterpret_cast<unsigned char*>(slices), batch.vocabulary));
  const std::int64_t position = blockIdx.x / static_cast<unsigned>(team.partitions());
  const bool tells = team.partition() == 0 && threadIdx.x == 0;
  if (batch.refused(position)) {  // the whole cluster returns
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
  if constexpr (V::info.unsupported.device.empty()) {
    const std::size_t shared = cluster_rows_bytes(batch.vocabulary, partitions) + plan_bytes<V>;
    for_positions_of_grids(batch.positions, partitions, [&](std::int64_t first, int count) {
      launch_clusters(verify_by_cluster<V>, count, partitions, verify_threads, shared, stream, verifier,
                      batch.part(first, count));
    });
  } else {
    no_kernel(V::info.name, V::info.unsupported.device);
  }
}

}  // namespace draftproof::gpu
