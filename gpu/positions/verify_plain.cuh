// verify_batch, and the launches of the mappings that run on every device.
#pragma once

#include <algorithm>
#include <cstddef>

#include <draftproof/gpu/device/device_call.cuh>
#include <draftproof/gpu/positions/verify_kernel.cuh>
#include <draftproof/gpu/rows/stored_launch.cuh>
#include <draftproof/gpu/teams/split_launch.cuh>
#include <draftproof/gpu/verify_batch.hpp>

namespace draftproof::gpu {

/// Mutants have kernels for the mapping `block` only, because every device can run it and it suffices to refute them.
template <class V>
inline constexpr bool by_block_alone = V::info.is_mutant();

/// Returns the properties of the current device by which a mapping of V is chosen. If V is a mutant, these properties
/// allow neither clusters nor split teams.
/// Throws: std::invalid_argument if V is a mutant and `wanted` is cluster or split.
template <class V>
DeviceTraits device_for(Mapping wanted) {
  DeviceTraits device = beside_plans(this_device(), plan_bytes<V>);
  if constexpr (by_block_alone<V>) {
    if (wanted == Mapping::cluster || wanted == Mapping::split) no_mapping(V::info.name, wanted);
    device.most_cluster = 0;
    device.cooperative = false;
  }
  return device;
}

/// Queues a kernel that reads rows at every pass. `scratch` has `teams` entries if the mapping is split.
template <class V, class Entry>
void launch_plain(const V& verifier, const Batch<Entry>& batch, const Mapped& mapped, int teams,
                  SplitScratch* scratch, Stream stream) {
  const auto positions = static_cast<unsigned>(batch.positions);
  constexpr std::size_t shared = plan_bytes<V>;
  switch (mapped.mapping) {
    case Mapping::split:
      if constexpr (!by_block_alone<V>)
        return launch_split(verify_by_split<V, Entry>, teams, mapped.partitions, verify_threads, stream, verifier,
                            batch, scratch, shared);
      break;
    default:
      allow_shared(verify_by_block<V, Entry>, shared);
      verify_by_block<<<positions, verify_threads, shared, stream>>>(verifier, batch);
  }
  device_call("cudaLaunchKernel", cudaGetLastError());
}

template <class V, class Entry>
void verify_batch(const V& verifier, const Batch<Entry>& batch, Stream stream, Mapping wanted) {
  if constexpr (V::info.unsupported.device.empty()) {
    if (batch.positions == 0) return;  // launching an empty grid is an error
    const Mapped found =
        mapped(wanted, device_for<V>(wanted), batch.positions, batch.vocabulary, batch.proposals, sizeof(Entry),
               static_cast<int>(std::min<std::int64_t>(batch.draft_stride, many_drafts)));
    if constexpr (has_format<Entry> && !by_block_alone<V>)
      if (found.mapping == Mapping::cluster)
        return verify_clusters(verifier, stored(batch), found.partitions, stream);
    const bool split = found.mapping == Mapping::split;
    const int teams = split ? most_split_teams(this_device(), batch.positions, found.partitions) : 0;
    const StreamMemory scratch(static_cast<std::size_t>(teams) * sizeof(SplitScratch), stream);
    launch_plain(verifier, batch, found, teams, static_cast<SplitScratch*>(scratch.data()), stream);
  } else {
    no_kernel(V::info.name, V::info.unsupported.device);
  }
}

template <class V>
void verify_batch(const V& verifier, const StoredBatch& batch, Stream stream, const VerifyOptions& options) {
  if constexpr (V::info.unsupported.device.empty()) {
    if (checked_shape(batch).positions == 0) return;
    const StoredLaunch launch(batch, stream, options, device_for<V>(options.mapping));
    if constexpr (!by_block_alone<V>)
      if (launch.mapped().mapping == Mapping::cluster)
        return verify_clusters(verifier, launch.stored(), launch.mapped().partitions, stream);
    launch_plain(verifier, launch.floats(), launch.mapped(), launch.teams(), launch.split_scratch(), stream);
  } else {
    no_kernel(V::info.name, V::info.unsupported.device);
  }
}

}  // namespace draftproof::gpu
