#include <draftproof/gpu/mapping.hpp>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <draftproof/gpu/rows/stored_on_chip.cuh>

namespace draftproof::gpu {
namespace {

constexpr int lanes = 32, warp_vocabulary = 2048;

/// Blocks of a cluster whose shared memory holds both rows, more if multiprocessors would idle; 0 if none fits.
int cluster_shares(const DeviceTraits& device, int positions, int vocabulary) {
  constexpr int portable = 8;
  for (int shares = 1; shares <= device.most_cluster; shares *= 2) {
    const TeamLayout layout = on_chip_layout(vocabulary, lanes, shares);
    if (on_chip_bytes(layout.slice()) + sizeof(TeamScratch) > device.shared_bytes) continue;
    while (2 * shares <= std::min(portable, device.most_cluster) &&
           std::int64_t{2} * shares * positions <= device.multiprocessors)
      shares *= 2;
    return shares;
  }
  return 0;
}

/// Blocks per position: the largest power of two, at most 32, with at most one block per multiprocessor in all.
int split_shares(const DeviceTraits& device, int positions) {
  int shares = 1;
  while (shares < 32 && std::int64_t{2} * shares * positions <= device.multiprocessors) shares *= 2;
  return shares;
}

[[noreturn]] void refuse(Mapping wanted, const std::string& why) {
  throw std::invalid_argument("a position by " + std::string(name_of(wanted)) + ": " + why);
}

}  // namespace

std::string_view name_of(Mapping mapping) {
  switch (mapping) {
    case Mapping::automatic:
      return "automatic";
    case Mapping::warp:
      return "warp";
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
              std::size_t entry_bytes) {
  const bool floats = entry_bytes <= sizeof(float);
  const int shares = proposals == 1 && floats ? cluster_shares(device, positions, vocabulary) : 0;
  switch (wanted) {
    case Mapping::warp:
    case Mapping::block:
      return {wanted, 1};
    case Mapping::cluster:
      if (device.most_cluster == 0)
        refuse(wanted, "the device has no clusters, wanted compute capability 9 or later");
      if (proposals != 1) refuse(wanted, "found " + std::to_string(proposals) + " proposal rows, wanted 1");
      if (!floats) refuse(wanted, "found rows of double, wanted float or shorter");
      if (shares == 0) refuse(wanted, std::to_string(vocabulary) + " tokens do not fit into its shared memory");
      return {wanted, shares};
    case Mapping::split:
      if (!device.cooperative) refuse(wanted, "the device cannot launch cooperatively");
      return {wanted, split_shares(device, positions)};
    case Mapping::automatic:
      break;
  }
  if (vocabulary <= warp_vocabulary) return {Mapping::warp, 1};
  if (shares > 0) return {Mapping::cluster, shares};
  if (device.cooperative && std::int64_t{4} * positions <= device.multiprocessors)
    return {Mapping::split, split_shares(device, positions)};
  return {Mapping::block, 1};
}

}  // namespace draftproof::gpu
