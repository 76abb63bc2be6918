// The device memory that a verification needs beside its batch, and the offset of each part. The sizes are computed
// without a device, so an engine can allocate the memory once.
//
//   faults    [B] words          if the batch has none and rows are checked
//   rows      converted rows     if the mapping reads rows at every pass and they are not floats
//   split     [teams] scratch    of blocks that synchronize in device memory (split_team.cuh)
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
  std::size_t faults = 0, rows = 0, split = 0, bytes = 0;  ///< offset of each part in bytes, and the total size
  bool has_faults = false, converts = false;
  int teams = 0;  ///< largest number of teams of a split verification; its scratch has one entry per team
};

/// Returns how many teams of `partitions` blocks of 512 threads a device can run at once, at most `positions`.
int most_split_teams(const DeviceTraits& device, int positions, int partitions);

/// Returns the number of drafts to pass to mapped(): the capacity for drafts of `batch`, or many_drafts if mapping
/// `block` would have to convert the rows first, which mapping `cluster` does not.
int drafts_that_choose(const StoredBatch& batch);

/// Returns the layout for `batch`. `checks`: whether rows of probabilities are checked before they are used.
Workspace workspace_of(const StoredBatch& batch, const Mapped& mapped, const DeviceTraits& device, bool checks);

/// Returns the caller's workspace.
/// Throws: std::invalid_argument if it has fewer than `wanted` bytes or is not 256-byte aligned.
char* given_workspace(void* workspace, std::size_t bytes, std::size_t wanted);

/// Returns bytes that suffice for every batch like this one with at most as many positions and any number of drafts.
/// Fewer positions may need more memory, because few positions are split over the device. Throws: as mapped() does.
std::size_t workspace_for_up_to(const StoredBatch& batch, Mapping wanted, const DeviceTraits& device, bool checks);

// Dynamic shared memory for a verifier's plan, per partition. Its size is declared by the verifier:
//
//   V::team_bytes   bytes of a plan that a team makes together (sim/device/cooperative_memory.hpp); else absent

/// Bytes of the plan of V for one partition, a multiple of 16; 0 if it needs none.
template <class V>
inline constexpr std::size_t plan_bytes = [] {
  if constexpr (requires { V::team_bytes; })
    return (V::team_bytes + 15) / 16 * 16;
  else
    return std::size_t{0};
}();
template <class V>
inline constexpr std::size_t plan_bytes<NodeByNode<V>> = plan_bytes<V>;

}  // namespace draftproof::gpu
