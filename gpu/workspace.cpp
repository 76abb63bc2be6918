#include <draftproof/gpu/workspace.hpp>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <draftproof/gpu/rows/distinct_rows.hpp>
#include <draftproof/gpu/teams/split_scratch.hpp>

namespace draftproof::gpu {

int most_split_teams(const DeviceTraits& device, int positions, int partitions) {
  constexpr int blocks = 4;         // of 512 threads each: a multiprocessor holds 2048 threads
  constexpr int most_rows = 65535;  // per grid
  return std::min({positions, std::max(1, blocks * device.multiprocessors / partitions), most_rows});
}

int drafts_that_choose(const StoredBatch& batch) {
  const bool converts = batch.contents == Contents::logits || batch.format != Format::float32;
  if (converts || batch.draft_stride == 0) return many_drafts;
  return static_cast<int>(std::min<std::int64_t>(batch.draft_stride, many_drafts));
}

Workspace workspace_of(const StoredBatch& batch, const Mapped& mapped, const DeviceTraits& device, bool checks) {
  Workspace workspace;
  const auto take = [&workspace](std::size_t bytes) {
    const std::size_t start = workspace.bytes;
    workspace.bytes += (bytes + 255) / 256 * 256;
    return start;
  };
  const bool logits = batch.contents == Contents::logits;
  workspace.has_faults = batch.faults == nullptr && (logits || checks);
  workspace.converts = mapped.mapping != Mapping::cluster && (logits || batch.format != Format::float32);
  if (workspace.has_faults)
    workspace.faults = take(static_cast<std::size_t>(batch.positions) * sizeof(std::uint64_t));
  if (workspace.converts)
    workspace.rows = take(static_cast<std::size_t>(DistinctRows{batch}.floats()) * sizeof(float));
  if (mapped.mapping == Mapping::split) {
    workspace.teams = most_split_teams(device, batch.positions, mapped.partitions);
    workspace.split = take(static_cast<std::size_t>(workspace.teams) * sizeof(SplitScratch));
  }
  return workspace;
}

char* given_workspace(void* workspace, std::size_t bytes, std::size_t wanted) {
  if (bytes < wanted)
    throw std::invalid_argument("workspace: got " + std::to_string(bytes) + " bytes, expected " +
                                std::to_string(wanted));
  if (reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0)
    throw std::invalid_argument("workspace: got an address that is not a multiple of 256 bytes");
  return static_cast<char*>(workspace);
}

std::size_t workspace_for_up_to(const StoredBatch& batch, Mapping wanted, const DeviceTraits& device, bool checks) {
  const auto bytes = [&](int positions) {
    StoredBatch fewer = batch;
    fewer.positions = positions;
    std::size_t most = 0;
    for (const int drafts : {1, 4, many_drafts}) {  // mapped() may choose differently for each number (mapping.cpp)
      fewer.draft_stride = drafts;
      const auto entry = static_cast<std::size_t>(bytes_of(batch.format));
      const Mapped found =
          mapped(wanted, device, positions, batch.vocabulary, batch.proposals, entry, drafts_that_choose(fewer));
      most = std::max(most, workspace_of(fewer, found, device, checks).bytes);
    }
    return most;
  };
  if (batch.positions == 0) return 0;
  // From as many positions as multiprocessors on, a position has at most one block, and the workspace grows with the
  // number of positions. Smaller batches may need more memory, so the workspace of every smaller number of positions is
  // computed.
  std::size_t most = bytes(batch.positions);
  for (int i = 1; i < std::min(batch.positions, device.multiprocessors); ++i) most = std::max(most, bytes(i));
  return most;
}

}  // namespace draftproof::gpu
