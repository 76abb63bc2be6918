// The kernels of a verifier: a block, a cluster of blocks or a split team verifies a position, and its
// threads prepare and verify together. All kernels share one source and differ in the type of their team.
//
//   kernel              grid                               reads of a position's rows
//   verify_by_block     a block per position               at every pass: many positions
//   verify_by_cluster   `partitions` blocks per position   once, into shared memory (verify_clusters.cuh)
//   verify_by_split     `partitions` blocks per team,      at every pass, by the whole device: few positions
//                       teams take positions in turn
//
// Every thread computes the position's random bits itself, so all threads take the same branches and reach every
// barrier.
#pragma once

#include <cstdint>

#include <draftproof/gpu/batch.hpp>
#include <draftproof/gpu/teams/block_teams.cuh>
#include <draftproof/gpu/teams/plan_memory.cuh>
#include <draftproof/gpu/teams/split_team.cuh>
#include <draftproof/gpu/teams/team_rows.cuh>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::gpu {

/// Threads per block: 16 warps keep enough loads in flight for one block per multiprocessor.
inline constexpr int verify_threads = most_block_threads;
/// Number of threads of a cluster's block, and of blocks that share a multiprocessor, so that one block reads rows
/// while another block computes.
inline constexpr int cluster_threads = 256, cluster_sharing = 3;

static_assert(Distributions<TeamRows<RowView<float>, BlockTeam>> &&
              Distributions<TeamRows<RowView<double>, BlockTeam>>);
static_assert(Distributions<TeamRows<RowView<Bfloat16>, BlockTeam>> &&
              Distributions<TeamRows<RowView<Half>, SplitTeam>>);
static_assert(Position<DraftedPosition<TeamRows<RowView<float>, BlockTeam>>>);

/// Decides one position; every thread of the team calls it. Returns no_token if the position has a fault or reaches a
/// branch of probability zero. `B` is a Batch or a StoredBatch.
template <class V, class B, class L>
DRAFTPROOF_DEVICE Verdict decide(const V& verifier, const B& batch, std::int64_t position, const L& distributions) {
  if (batch.refused(position)) return {};
  const int count = batch.counts[position];
  const DraftedPosition<L> at(distributions, batch.drafts + position * batch.draft_stride, count);
  const auto plan = prepare(verifier, distributions, count);
  Philox random(batch.seed, batch.first_trial + static_cast<std::uint64_t>(position), Philox::Role::verify);
  return verify(verifier, at, plan, random);
}

/// Number of blocks that share a multiprocessor. With two, one block reads rows while the other searches for its token.
/// If the verifier makes a plan, its shared memory leaves space for one block only.
template <class V>
inline constexpr int block_sharing = plan_bytes<V> > 0 ? 1 : 2;

template <class V, class Entry>
__global__ void __launch_bounds__(verify_threads, block_sharing<V>)
    verify_by_block(const V verifier, const Batch<Entry> batch) {
  __shared__ TeamScratch scratch;
  const std::int64_t position = blockIdx.x;
  const TeamRows distributions(batch.rows(position), BlockTeam(&scratch, plan_memory<V>()));
  const Verdict verdict = decide(verifier, batch, position, distributions);
  if (threadIdx.x == 0) batch.verdicts[position] = verdict;
}

/// The launch bounds state one block per multiprocessor, because the compiler would spill registers for two.
template <class V, class Entry>
__global__ void __launch_bounds__(verify_threads, 1)
    verify_by_split(const V verifier, const Batch<Entry> batch, SplitScratch* scratch) {
  const SplitTeam team(scratch + blockIdx.y, plan_memory<V>());
  for (std::int64_t position = blockIdx.y; position < batch.positions; position += gridDim.y) {
    const TeamRows distributions(batch.rows(position), team);
    const Verdict verdict = decide(verifier, batch, position, distributions);
    if (blockIdx.x == 0 && threadIdx.x == 0) batch.verdicts[position] = verdict;
  }
}

}  // namespace draftproof::gpu
