// Device memory that a verification wants beside its batch, and where in it each part lies: found without a device,
// so that an engine can set it aside once.
//
//   faults    [B] words          if the batch has none and something may be found
//   rows      converted rows     where a mapping reads rows at every pass and they are not floats yet
//   split     [teams] scratch    of blocks that meet in device memory (split_team.cuh)
//
// Parts begin at multiples of 256 bytes.
#pragma once

#include <cstddef>

#include <draftproof/gpu/mapping.hpp>
#include <draftproof/gpu/stored_batch.hpp>
#include <draftproof/gpu/teams/team.hpp>
#include <draftproof/sim/trees/node_by_node.hpp>

namespace draftproof::gpu {

struct Workspace {
  std::size_t faults = 0, rows = 0, split = 0, bytes = 0;  ///< offsets, and the end
  bool has_faults = false, converts = false;
  int teams = 0;  ///< of a split verification, at most; what its scratch has room for
};

/// The most teams of `shares` blocks of 512 threads that a device can run at once; no more than positions.
int most_split_teams(const DeviceTraits& device, int positions, int shares);

/// `checks`: rows of probabilities are checked before they are used.
Workspace workspace_of(const StoredBatch& batch, const Mapped& mapped, const DeviceTraits& device, bool checks);

/// What a user has set aside. Throws std::invalid_argument if it is less than is wanted, or not aligned.
char* given_workspace(void* workspace, std::size_t bytes, std::size_t wanted);

/// Bytes that are enough for every batch like this one of at most as many positions: fewer positions may want more,
/// because a few are split over the device.
std::size_t workspace_for_up_to(const StoredBatch& batch, Mapping wanted, const DeviceTraits& device, bool checks);

// Memory that the threads of a share have for a verifier's plan: what the verifier asks for, if it does.
//
//   V::team_bytes     of a verifier whose plan a team makes together (sim/device/cooperative_memory.hpp); none for all others
//
// It is dynamic shared memory, behind the rows where these lie on chip.

/// A multiple of 16.
template <class V>
inline constexpr std::size_t plan_bytes = [] {
  if constexpr (requires { V::team_bytes; })
    return (V::team_bytes + 15) / 16 * 16;
  else
    return std::size_t{0};
}();
template <class V>
inline constexpr std::size_t plan_bytes<NodeByNode<V>> = plan_bytes<V>;

/// Warps of a block that each have a plan of their own: as many as `most` where plans are small, so that a block's
/// fit into what every device has on request.
template <class V>
constexpr int warps_with_plans(int most) {
  constexpr std::size_t shared = 96 * 1024;
  const std::size_t each = plan_bytes<V> + sizeof(TeamScratch);
  while (most > 1 && static_cast<std::size_t>(most) * each > shared) most /= 2;
  return most;
}

}  // namespace draftproof::gpu
