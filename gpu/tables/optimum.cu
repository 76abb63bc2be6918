#include <draftproof/gpu/optimum.hpp>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <draftproof/gpu/device/device_buffer.cuh>
#include <draftproof/gpu/device/stream_memory.cuh>
#include <draftproof/gpu/tables/batch_optimum.cuh>
#include <draftproof/gpu/tables/stored_distributions.cuh>
#include <draftproof/gpu/workspace.hpp>

namespace draftproof::gpu {
namespace {

/// Number of tokens that are sorted together: enough to occupy a device. Each needs 40 bytes of memory.
constexpr std::int64_t places_of_turn = std::int64_t{1} << 21;

std::int64_t positions_of_turn(const StoredBatch& batch) {
  return std::clamp<std::int64_t>(places_of_turn / batch.vocabulary, 1, std::max(batch.positions, 1));
}

struct OptimumSpace {
  OptimumSpace(Places& places, const StoredBatch& batch, std::int64_t positions, std::size_t scratch)
      : distributions(places, batch),
        turn(places, static_cast<std::size_t>(positions), static_cast<std::size_t>(batch.vocabulary), scratch) {}

  DistributionSpace distributions;
  TurnSpace turn;
};

const StoredBatch& checked(const StoredBatch& batch) {
  if (checked_shape(batch).proposals != 1)
    throw std::invalid_argument("optimum: got " + std::to_string(batch.proposals) + " proposals, expected one");
  return batch;
}

}  // namespace

std::size_t optimum_workspace_bytes(const StoredBatch& batch) {
  const std::int64_t turn = positions_of_turn(checked(batch));
  Places places(nullptr);
  OptimumSpace(places, batch, turn, scratch_of_steps(static_cast<std::uint32_t>(turn * batch.vocabulary)));
  return places.bytes();
}

void iid_optima(const StoredBatch& batch, std::span<const int> drafts, Optimum* optima, Stream stream,
                const OptimumOptions& options) {
  const std::int64_t most = positions_of_turn(checked(batch));
  for (const int count : drafts)
    if (count < 1)
      throw std::invalid_argument("optimum: got " + std::to_string(count) + " drafts, expected 1 or more");
  if (batch.positions == 0) return;
  const std::size_t scratch = scratch_of_steps(static_cast<std::uint32_t>(most * batch.vocabulary));
  Places none(nullptr);
  OptimumSpace(none, batch, most, scratch);
  const StreamMemory own(options.workspace == nullptr ? none.bytes() : 0, stream);
  Places places(options.workspace == nullptr
                    ? own.data()
                    : given_workspace(options.workspace, options.workspace_bytes, none.bytes()));
  const OptimumSpace space(places, batch, most, scratch);
  DeviceMachine machine(stream);
  const FixedRows fixed = queue_distributions(machine, batch, space.distributions);
  for (std::int64_t first = 0; first < batch.positions; first += most) {
    const Turn turn{fixed, first, static_cast<std::uint32_t>(std::min(most, batch.positions - first))};
    optima_of_turn(machine, turn, space.turn, drafts, optima + first, batch.positions);
  }
}

std::vector<Optimum> iid_optima(const StoredBatch& batch, int drafts, Stream stream) {
  std::vector<Optimum> found(static_cast<std::size_t>(checked(batch).positions));
  const DeviceBuffer<Optimum> optima(nullptr, found.size());
  iid_optima(batch, std::span(&drafts, 1), optima.data(), stream);
  device_call("cudaMemcpyAsync", cudaMemcpyAsync(found.data(), optima.data(), found.size() * sizeof found[0],
                                                 cudaMemcpyDeviceToHost, stream));
  device_call("cudaStreamSynchronize", cudaStreamSynchronize(stream));
  return found;
}

}  // namespace draftproof::gpu
