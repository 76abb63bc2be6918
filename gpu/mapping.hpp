// Which threads of a device verify one position. The mapping changes the time and never the tokens.
//
//   warp      V <= 2048: a row is a few memory lines per lane, and a block would mostly wait at barriers
//   cluster   compute capability 9 and later, one proposal row, both rows fit into the shared memory of 8 blocks,
//             or of 16 where the device grants it: device memory is read once
//   split     positions <= multiprocessors / 4, so other mappings would leave most of them idle
//   block     otherwise
#pragma once

#include <cstddef>
#include <string_view>

namespace draftproof::gpu {

enum class Mapping { automatic, warp, block, cluster, split };

/// The name of a mapping, such as "warp".
std::string_view name_of(Mapping mapping);

/// The device properties that the choice of a mapping depends on.
struct DeviceTraits {
  int multiprocessors = 1;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory of a block, on request
  int most_cluster = 0;          ///< most blocks per cluster; 0: no clusters
  bool cooperative = false;      ///< supports grids whose blocks wait for each other
};

/// Returns the device with `plan_bytes` less shared memory: the part that a verifier's plan takes (workspace.hpp).
constexpr DeviceTraits beside_plans(DeviceTraits device, std::size_t plan_bytes) {
  device.shared_bytes -= device.shared_bytes < plan_bytes ? device.shared_bytes : plan_bytes;
  return device;
}

/// A mapping and its blocks per position; 1 except for cluster and split.
struct Mapped {
  Mapping mapping;
  int shares = 1;
  bool operator==(const Mapped&) const = default;
};

/// Returns the mapping for `positions` positions of `vocabulary` tokens with `proposals` proposal rows of entries of
/// `entry_bytes` bytes: `wanted`, or a choice by the table above if it is automatic.
/// Throws: std::invalid_argument with the reason if a mapping other than automatic is not available.
Mapped mapped(Mapping wanted, const DeviceTraits& device, int positions, int vocabulary, int proposals,
              std::size_t entry_bytes);

}  // namespace draftproof::gpu
