// Which threads of a device look at one position. The tokens are the same for all of them; the time is not.
//
//   warp      V <= 2048: a row is a few lines for each lane, and a block would mostly wait at barriers
//   cluster   compute capability 9 and later, one proposal row, both rows fit into the shared memory of 8 blocks,
//             or of 16 where the device grants it: device memory is read once
//   split     fewer positions than a quarter of the multiprocessors, which would idle otherwise
//   block     all else
#pragma once

#include <cstddef>
#include <string_view>

namespace draftproof::gpu {

enum class Mapping { automatic, warp, block, cluster, split };

std::string_view name_of(Mapping mapping);

/// What a choice depends on.
struct DeviceTraits {
  int multiprocessors = 1;
  std::size_t shared_bytes = 0;  ///< of a block, on request
  int most_cluster = 0;          ///< blocks of a cluster; 0: no clusters
  bool cooperative = false;      ///< grids whose blocks may wait for each other
};

/// The device as it is for a verifier whose plan takes as much of a block's shared memory (plan_bytes.hpp).
constexpr DeviceTraits beside_plans(DeviceTraits device, std::size_t plan_bytes) {
  device.shared_bytes -= device.shared_bytes < plan_bytes ? device.shared_bytes : plan_bytes;
  return device;
}

/// A mapping and the blocks of a position: 1 but for cluster and split.
struct Mapped {
  Mapping mapping;
  int shares = 1;
  bool operator==(const Mapped&) const = default;
};

/// What `wanted` comes to for B positions of V tokens with `proposals` proposal rows of entries of `entry_bytes`.
/// Throws std::invalid_argument if it was asked for by name and cannot be had, with the reason.
Mapped mapped(Mapping wanted, const DeviceTraits& device, int positions, int vocabulary, int proposals,
              std::size_t entry_bytes);

}  // namespace draftproof::gpu
