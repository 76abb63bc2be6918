// The kernels of a verifier of paths and their launch. A request is verified by all threads of one block, or of a split
// team of several blocks, which visit the nodes of its tree together.
//
//   kernel           grid                           reads of a node's rows
//   steps_by_block   a block per request            at every pass over the node: many requests
//   steps_by_split   `shares` blocks per team,      at every pass over the node, by the whole device: few requests
//                    teams take requests in turn
//
// Most nodes take at most one pass over their rows, so rows are not kept in shared memory. Every thread computes the
// same random bits from seed and trial, so all threads visit the same nodes and reach every barrier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <draftproof/gpu/device/device_call.cuh>
#include <draftproof/gpu/device/stream_memory.cuh>
#include <draftproof/gpu/steps/pass.cuh>
#include <draftproof/gpu/teams/block_teams.cuh>
#include <draftproof/gpu/teams/plan_memory.cuh>
#include <draftproof/gpu/teams/split_launch.cuh>
#include <draftproof/gpu/teams/split_team.cuh>
#include <draftproof/gpu/verify_steps.hpp>
#include <draftproof/gpu/workspace.hpp>

namespace draftproof::gpu {

static_assert(Distributions<NodeDistributions<float, BlockTeam>> &&
              Distributions<NodeDistributions<double, SplitTeam>>);

inline constexpr int step_threads = most_block_threads;

template <class V, class Entry>
__global__ void __launch_bounds__(step_threads, 1) steps_by_block(const V verifier, const StepBatch<Entry> batch) {
  __shared__ TeamScratch scratch;
  const BlockTeam team(&scratch, plan_memory<V>());
  const StepOutput step = pass(verifier, batch, blockIdx.x, team, threadIdx.x == 0);
  if (threadIdx.x == 0) batch.steps[blockIdx.x] = step;
}

template <class V, class Entry>
__global__ void __launch_bounds__(step_threads, 1)
    steps_by_split(const V verifier, const StepBatch<Entry> batch, SplitScratch* scratch) {
  const SplitTeam team(scratch + blockIdx.y, plan_memory<V>());
  const bool writes = blockIdx.x == 0 && threadIdx.x == 0;
  for (std::int64_t request = blockIdx.y; request < batch.requests; request += gridDim.y) {
    const StepOutput step = pass(verifier, batch, request, team, writes);
    if (writes) batch.steps[request] = step;
  }
}

/// Chooses the mapping of a batch of requests by the rules for positions (mapping.hpp), but never cluster.
/// Throws: std::invalid_argument as mapped() does.
inline Mapped mapped_steps(Mapping wanted, int requests, int vocabulary, std::size_t entry_bytes,
                           std::size_t plan_bytes) {
  if (wanted == Mapping::cluster)
    throw std::invalid_argument("steps by cluster: got a mapping to clusters, expected block or split");
  DeviceTraits without = beside_plans(this_device(), plan_bytes);
  without.most_cluster = 0;
  return mapped(wanted, without, requests, vocabulary, 1, entry_bytes);
}

template <class V, class Entry>
void verify_steps(const V& verifier, const StepBatch<Entry>& batch, Stream stream, Mapping wanted) {
  if constexpr (no_steps<V>.empty()) {
    if (batch.requests == 0) return;  // launching an empty grid is an error
    if constexpr (Stateful<V, NodeDistributions<Entry, BlockTeam>>)
      if (batch.carries == nullptr)
        throw std::invalid_argument("steps: " + std::string{step_name<V>} +
                                    " carries state from one iteration to the next, and the batch has no carries");
    const auto requests = static_cast<unsigned>(batch.requests);
    constexpr std::size_t shared = plan_bytes<V>;
    const auto [mapping, shares] = mapped_steps(wanted, batch.requests, batch.vocabulary, sizeof(Entry), shared);
    switch (mapping) {
      case Mapping::split: {
        const int teams = most_split_teams(this_device(), batch.requests, shares);
        const StreamMemory scratch(static_cast<std::size_t>(teams) * sizeof(SplitScratch), stream);
        launch_split(steps_by_split<V, Entry>, teams, shares, step_threads, stream, verifier, batch,
                     static_cast<SplitScratch*>(scratch.data()), shared);
        break;
      }
      default:
        allow_shared(steps_by_block<V, Entry>, shared);
        steps_by_block<<<requests, step_threads, shared, stream>>>(verifier, batch);
        device_call("cudaLaunchKernel", cudaGetLastError());
    }
  } else {
    no_kernel(step_name<V>, no_steps<V>);
  }
}

}  // namespace draftproof::gpu
