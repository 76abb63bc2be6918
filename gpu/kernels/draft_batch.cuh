// The kernels of a drafter and their launch. The drafts of a position are drawn by all threads of one block, or of a
// split team of several blocks. Include this file in a CUDA source to draft with a custom drafter.
//
//   kernel            grid                           reads of a proposal row
//   drafts_by_block   a block per position           once per draw: many positions
//   drafts_by_split   `partitions` blocks per team,  once per draw, by the whole device: few positions
//                     teams take positions in turn
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include <draftproof/gpu/device/device_call.cuh>
#include <draftproof/gpu/device/stream_memory.cuh>
#include <draftproof/gpu/drafts/draft_position.cuh>
#include <draftproof/gpu/teams/block_teams.cuh>
#include <draftproof/gpu/teams/split_launch.cuh>
#include <draftproof/gpu/workspace.hpp>

namespace draftproof::gpu {

inline constexpr int draft_threads = most_block_threads;

template <class D, class Entry>
__global__ void __launch_bounds__(draft_threads, 1) drafts_by_block(const D drafter, const DraftBatch<Entry> batch) {
  __shared__ TeamScratch scratch;
  draft_position(drafter, batch, blockIdx.x, BlockTeam(&scratch), threadIdx.x == 0);
}

template <class D, class Entry>
__global__ void __launch_bounds__(draft_threads, 1)
    drafts_by_split(const D drafter, const DraftBatch<Entry> batch, SplitScratch* scratch) {
  const SplitTeam team(scratch + blockIdx.y);
  for (std::int64_t position = blockIdx.y; position < batch.positions; position += gridDim.y)
    draft_position(drafter, batch, position, team, blockIdx.x == 0 && threadIdx.x == 0);
}

template <class D, class Entry>
void draft_batch(const D& drafter, const DraftBatch<Entry>& batch, CUstream_st* stream, Mapping wanted) {
  if (wanted == Mapping::cluster)
    throw std::invalid_argument("drafts by cluster: got a mapping to clusters, expected block or split");
  if (batch.positions == 0) return;  // launching an empty grid is an error
  const auto positions = static_cast<unsigned>(batch.positions);
  DeviceTraits without = this_device();
  without.most_cluster = 0;
  const auto [mapping, partitions] =
      mapped(wanted, without, batch.positions, batch.vocabulary, batch.proposals, sizeof(Entry));
  switch (mapping) {
    case Mapping::split: {
      const int teams = most_split_teams(without, batch.positions, partitions);
      const StreamMemory scratch(static_cast<std::size_t>(teams) * sizeof(SplitScratch), stream);
      return launch_split(drafts_by_split<D, Entry>, teams, partitions, draft_threads, stream, drafter, batch,
                          static_cast<SplitScratch*>(scratch.data()), 0);
    }
    default:
      drafts_by_block<<<positions, draft_threads, 0, stream>>>(drafter, batch);
  }
  device_call("cudaLaunchKernel", cudaGetLastError());
}

}  // namespace draftproof::gpu
