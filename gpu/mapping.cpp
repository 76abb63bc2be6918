#include <draftproof/gpu/mapping.hpp>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <draftproof/gpu/rows/stored_on_chip.cuh>

namespace draftproof::gpu {
namespace {

constexpr int lanes = 32, sharing = 3;  ///< sharing: number of blocks that run on one multiprocessor at once

/// Whether the shared memory of a multiprocessor is enough for `blocks` blocks, each with its part of both rows in a
/// cluster of `partitions` blocks. CUDA reserves 1 KiB of shared memory for each block (CUDA C++ Programming Guide,
/// compute capability 9.0).
bool fits(const DeviceTraits& device, int vocabulary, int partitions, int blocks) {
  constexpr std::size_t reserved = 1024;
  const TeamLayout layout = on_chip_layout(vocabulary, lanes, partitions);
  return on_chip_bytes(layout.slice()) + sizeof(TeamScratch) + reserved <=
         (device.shared_bytes + reserved) / static_cast<std::size_t>(blocks);
}

/// Returns the number of blocks per cluster whose shared memory holds both rows: the smallest number at which several
/// blocks share a multiprocessor, or else the smallest that fits; it is doubled while multiprocessors would be idle and
/// each block would have tokens. Returns 0 if both rows do not fit in the largest cluster.
int cluster_partitions(const DeviceTraits& device, int positions, int vocabulary) {
  for (const int blocks : {sharing, 1})
    for (int partitions = 1; partitions <= device.most_cluster; partitions *= 2) {
      if (!fits(device, vocabulary, partitions, blocks)) continue;
      while (2 * partitions <= device.most_cluster && partitions * softmax_block_size < vocabulary &&
             std::int64_t{2} * partitions * positions <= device.multiprocessors)
        partitions *= 2;
      return partitions;
    }
  return 0;
}

/// Whether one block per position is the fastest mapping although others are available.
bool blocks_win(const DeviceTraits& device, int positions, int vocabulary, int drafts) {
  return vocabulary <= (device.plans ? 2048 : 8192) ||
         (drafts <= 2 && std::int64_t{3} * positions >= device.multiprocessors);
}

/// Whether clusters of `partitions` blocks are faster than single blocks: if several blocks share a multiprocessor, if
/// all blocks run at once, or if there are many drafts, because a cluster reads its rows once for all passes.
bool clusters_win(const DeviceTraits& device, int positions, int vocabulary, int drafts, int partitions) {
  constexpr int many = 8;
  return fits(device, vocabulary, partitions, sharing) ||
         std::int64_t{partitions} * positions <= device.multiprocessors || drafts > many;
}

/// Returns the number of blocks per position: the largest power of two such that there is at most one block per
/// multiprocessor in all, and TeamScratch has an entry for each warp of a position.
int split_partitions(const DeviceTraits& device, int positions) {
  constexpr int most = TeamScratch::most_warps * lanes / most_block_threads;
  int partitions = 1;
  while (partitions < most && std::int64_t{2} * partitions * positions <= device.multiprocessors) partitions *= 2;
  return partitions;
}

[[noreturn]] void refuse(Mapping wanted, const std::string& why) {
  throw std::invalid_argument("a position by " + std::string(name_of(wanted)) + ": " + why);
}

}  // namespace

std::string_view name_of(Mapping mapping) {
  switch (mapping) {
    case Mapping::automatic:
      return "automatic";
    case Mapping::block:
      return "block";
    case Mapping::cluster:
      return "cluster";
    case Mapping::split:
      return "split";
  }
  return "";
}

Mapped mapped(Mapping wanted, const DeviceTraits& device, int positions, int vocabulary, int proposals,
              std::size_t entry_bytes, int drafts) {
  const bool floats = entry_bytes <= sizeof(float);
  const int partitions =
      proposals == 1 && floats && !device.plans ? cluster_partitions(device, positions, vocabulary) : 0;
  switch (wanted) {
    case Mapping::block:
      return {wanted, 1};
    case Mapping::cluster:
      if (device.most_cluster == 0)
        refuse(wanted, "the device has no clusters, expected compute capability 9 or later");
      if (device.plans) refuse(wanted, "the verifier makes a plan, which leaves its shared memory too little room");
      if (proposals != 1) refuse(wanted, "got " + std::to_string(proposals) + " proposal rows, expected 1");
      if (!floats) refuse(wanted, "got rows of double, expected float or shorter");
      if (partitions == 0) refuse(wanted, std::to_string(vocabulary) + " tokens do not fit into its shared memory");
      return {wanted, partitions};
    case Mapping::split:
      if (!device.cooperative) refuse(wanted, "the device cannot launch cooperatively");
      return {wanted, split_partitions(device, positions)};
    case Mapping::automatic:
      break;
  }
  if (blocks_win(device, positions, vocabulary, drafts)) return {Mapping::block, 1};
  if (partitions > 0 && clusters_win(device, positions, vocabulary, drafts, partitions))
    return {Mapping::cluster, partitions};
  if (device.cooperative && std::int64_t{device.plans ? 2 : 4} * positions <= device.multiprocessors)
    return {Mapping::split, split_partitions(device, positions)};
  return {Mapping::block, 1};
}

}  // namespace draftproof::gpu
