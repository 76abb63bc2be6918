// Memory that the threads of a share have for a verifier's plan: what the verifier asks for, if it does.
//
//   V::team_bytes     of a verifier whose plan a team makes together (sim/device/cooperative_memory.hpp); none for all others
//
// It is dynamic shared memory, behind the rows where these lie on chip.
#pragma once

#include <cstddef>

#include <draftproof/gpu/teams/team.hpp>
#include <draftproof/sim/trees/node_by_node.hpp>

namespace draftproof::gpu {

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
