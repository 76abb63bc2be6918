// A mapping determines which threads of a device verify one position. It changes the time and never the tokens. The
// first line whose condition holds is taken; its bounds were measured on an H100 (docs/gpu.md). SMs are
// multiprocessors.
//
//   block     V <= 8192, or 2048 with a plan (workspace.hpp); or drafts <= 2 and positions >= SMs / 3
//   cluster   compute capability 9 and later, one proposal row, no plan, both rows fit into the shared memory of 8
//             blocks, or of 16 where the device grants it; and three blocks share a multiprocessor, or all clusters
//             run at once, or drafts > 8: device memory is read once
//   split     positions <= SMs / 4, or SMs / 2 for a verifier that makes a plan: other mappings would leave most SMs
//             idle
//   block     otherwise
#pragma once

#include <cstddef>
#include <string_view>

namespace draftproof::gpu {

enum class Mapping { automatic, block, cluster, split };

/// The name of a mapping, such as "block".
std::string_view name_of(Mapping mapping);

/// The device properties that the choice of a mapping depends on.
struct DeviceTraits {
  int multiprocessors = 1;
  std::size_t shared_bytes = 0;  ///< most dynamic shared memory that a block can request
  int most_cluster = 0;          ///< most blocks per cluster; 0: no clusters
  bool cooperative = false;      ///< whether the device supports grids whose blocks wait for each other
  bool plans = false;            ///< whether the verifier's plan takes most of the shared memory
};

/// Returns `device` with `plans` set for a verifier whose plan takes `plan_bytes` of shared memory (workspace.hpp).
constexpr DeviceTraits beside_plans(DeviceTraits device, std::size_t plan_bytes) {
  device.plans = plan_bytes > 0;
  return device;
}

/// A mapping, and the number of blocks per position, which is 1 except for cluster and split.
struct Mapped {
  Mapping mapping;
  int partitions = 1;
  bool operator==(const Mapped&) const = default;
};

/// Default number of drafts for the choice of a mapping; with so many drafts, rows are read in many passes.
inline constexpr int many_drafts = 32;

/// Returns the mapping for `positions` positions of `vocabulary` tokens with `proposals` proposal rows of entries of
/// `entry_bytes` bytes and at most `drafts` drafts: `wanted`, or, if `wanted` is automatic, the choice by the table at
/// the top of this file.
/// Throws: std::invalid_argument with the reason if a mapping other than automatic is not available.
Mapped mapped(Mapping wanted, const DeviceTraits& device, int positions, int vocabulary, int proposals,
              std::size_t entry_bytes, int drafts = many_drafts);

}  // namespace draftproof::gpu
