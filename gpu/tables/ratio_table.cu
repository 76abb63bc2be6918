#include <draftproof/gpu/ratio_table.hpp>

#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <draftproof/gpu/device/stream_memory.cuh>
#include <draftproof/gpu/tables/build_table.cuh>
#include <draftproof/gpu/tables/stored_distributions.cuh>
#include <draftproof/gpu/tables/table_buffers.cuh>

namespace draftproof::gpu {
namespace {

/// Returns a batch that has only position `position` of `batch`.
StoredBatch alone(const StoredBatch& batch, std::int64_t position) {
  checked_shape(batch);
  if (position < 0 || position >= batch.positions)
    throw std::invalid_argument("ratio table: got position " + std::to_string(position) + " of " +
                                std::to_string(batch.positions));
  if (batch.proposals > max_drafts)
    throw std::invalid_argument("ratio table: got " + std::to_string(batch.proposals) +
                                " proposals, expected at most " + std::to_string(max_drafts));
  StoredBatch one = batch;
  one.positions = 1;
  one.target = batch.target_row(position);
  one.proposal = batch.proposal_row(position, 0);
  one.faults = nullptr;
  return one;
}

struct BuildSpace {
  BuildSpace(Places& places, const StoredBatch& batch, std::size_t scratch)
      : distributions(places, batch),
        counts{places.take<std::uint64_t>(static_cast<std::size_t>(runs_of(batch)))},
        table(places, static_cast<std::size_t>(batch.vocabulary), scratch) {}

  static std::uint64_t runs_of(const StoredBatch& batch) {
    return Runs{1, static_cast<std::uint64_t>(batch.vocabulary)}.size();
  }

  DistributionSpace distributions;
  std::uint64_t* counts;
  TableSpace table;
};

std::vector<std::uint64_t> copied(const std::uint64_t* from, std::size_t size, Stream stream) {
  std::vector<std::uint64_t> host(size);
  device_call("cudaMemcpyAsync",
              cudaMemcpyAsync(host.data(), from, size * sizeof host[0], cudaMemcpyDeviceToHost, stream));
  device_call("cudaStreamSynchronize", cudaStreamSynchronize(stream));
  return host;
}

}  // namespace

DeviceTable ratio_table(const StoredBatch& batch, std::int64_t position, Stream stream) {
  const StoredBatch one = alone(batch, position);
  const std::size_t scratch = scratch_of_steps(static_cast<std::uint32_t>(one.vocabulary));
  Places none(nullptr);
  BuildSpace(none, one, scratch);
  const StreamMemory memory(none.bytes(), stream);
  Places places(memory.data());
  BuildSpace space(places, one, scratch);
  DeviceMachine machine(stream);
  const Turn turn{queue_distributions(machine, one, space.distributions), 0, 1};
  machine.each(CountTokens{turn, space.counts});
  const auto counts = copied(space.counts, static_cast<std::size_t>(BuildSpace::runs_of(one)), stream);
  if (const std::uint64_t fault = copied(space.distributions.faults, 1, stream)[0]; fault != no_fault)
    throw std::invalid_argument("ratio table: " + describe({position, RowFault::of_word(fault)}));
  const auto tokens = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  auto buffers = std::make_unique<DeviceTable::Buffers>(static_cast<std::size_t>(one.vocabulary),
                                                        static_cast<std::size_t>(one.proposals),
                                                        static_cast<std::size_t>(tokens));
  build_table(machine, turn, buffers->arrays(), space.table);
  device_call("cudaStreamSynchronize", cudaStreamSynchronize(stream));
  return DeviceTable(std::move(buffers));
}

}  // namespace draftproof::gpu
