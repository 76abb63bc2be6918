// The kernels of a verifier: a warp, a block, a cluster of blocks or a split team verifies a position, and its
// threads prepare and verify together. All kernels share one source and differ in the type of their team.
//
//   kernel               grid                            reads of a position's rows
//   verify_by_warp       a warp per position             at every pass, from cache: small vocabularies
//   verify_by_block      a block per position            at every pass: many positions
//   verify_by_cluster    `partitions` blocks per position    once, into shared memory (verify_clusters.cuh)
//   verify_by_split      `partitions` blocks per team,       at every pass, by the whole device: few positions
//                        teams take positions in turn
//
// Every thread computes the position's random words itself, so all threads take the same branches and reach every
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
inline constexpr int verify_threads = 512;
/// Warps per block, each with its own position.
template <class V>
inline constexpr int verify_warps = warps_with_plans<V>(4);

static_assert(Laws<TeamRows<RowView<float>, BlockTeam>> && Laws<TeamRows<RowView<double>, BlockTeam>>);
static_assert(Laws<TeamRows<RowView<Bfloat16>, WarpTeam>> && Laws<TeamRows<RowView<Half>, SplitTeam>>);
static_assert(Position<DraftedPosition<TeamRows<RowView<float>, BlockTeam>>>);

/// Decides one position; every thread of the team calls it. Returns no_token if the position has a fault or reaches a
/// branch of probability zero. `B` is a Batch or a StoredBatch.
template <class V, class B, class L>
DRAFTPROOF_DEVICE Verdict decide(const V& verifier, const B& batch, std::int64_t position, const L& laws) {
  if (batch.refused(position)) return {};
  const int count = batch.counts[position];
  const DraftedPosition<L> at(laws, batch.drafts + position * batch.draft_stride, count);
  const auto plan = prepare(verifier, laws, count);
  Philox random(batch.seed, batch.first_trial + static_cast<std::uint64_t>(position), Philox::Role::verify);
  return verify(verifier, at, plan, random);
}

/// Bounds of one block per multiprocessor keep the compiler from spilling registers for a second block.
template <class V, class Entry>
__global__ void __launch_bounds__(verify_threads, 1) verify_by_block(const V verifier, const Batch<Entry> batch) {
  __shared__ TeamScratch scratch;
  const std::int64_t position = blockIdx.x;
  const TeamRows laws(batch.rows(position), BlockTeam(&scratch, plan_memory<V>()));
  const Verdict verdict = decide(verifier, batch, position, laws);
  if (threadIdx.x == 0) batch.verdicts[position] = verdict;
}

template <class V, class Entry>
__global__ void __launch_bounds__(32 * verify_warps<V>, 1)
    verify_by_warp(const V verifier, const Batch<Entry> batch) {
  __shared__ TeamScratch scratch[verify_warps<V>];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t position = std::int64_t{blockIdx.x} * verify_warps<V> + warp;
  if (position >= batch.positions) return;  // the whole warp returns, and no other warp waits for it
  const TeamRows laws(batch.rows(position), WarpTeam(scratch + warp, plan_memory<V>(warp)));
  const Verdict verdict = decide(verifier, batch, position, laws);
  if (threadIdx.x % 32 == 0) batch.verdicts[position] = verdict;
}

template <class V, class Entry>
__global__ void __launch_bounds__(verify_threads, 1)
    verify_by_split(const V verifier, const Batch<Entry> batch, SplitScratch* scratch) {
  const SplitTeam team(scratch + blockIdx.y, plan_memory<V>());
  for (std::int64_t position = blockIdx.y; position < batch.positions; position += gridDim.y) {
    const TeamRows laws(batch.rows(position), team);
    const Verdict verdict = decide(verifier, batch, position, laws);
    if (blockIdx.x == 0 && threadIdx.x == 0) batch.verdicts[position] = verdict;
  }
}

}  // namespace draftproof::gpu
