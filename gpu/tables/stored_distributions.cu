#include <draftproof/gpu/tables/stored_distributions.cuh>

#include <draftproof/gpu/rows/row_kernels.cuh>

namespace draftproof::gpu {
namespace {

bool has_float_rows(const StoredBatch& batch) {
  return batch.contents == Contents::probabilities && batch.format == Format::float32;
}

}  // namespace

DistributionSpace::DistributionSpace(Places& places, const StoredBatch& batch) {
  const DistinctRows rows{batch};
  const FixedRows fixed{rows, nullptr, nullptr};
  const auto positions = static_cast<std::size_t>(batch.positions);
  faults = batch.faults != nullptr ? batch.faults : places.take<std::uint64_t>(positions);
  floats = has_float_rows(batch) ? nullptr : places.take<float>(static_cast<std::size_t>(rows.floats()));
  rests = places.take<RowRest>(static_cast<std::size_t>(rows.size()));
  run_notes = places.take<RowNote>(static_cast<std::size_t>(fixed.runs().size()));
}

FixedRows queue_distributions(const DeviceMachine& machine, const StoredBatch& batch,
                              const DistributionSpace& space) {
  DistinctRows rows{batch};
  rows.batch.faults = space.faults;
  device_call("cudaMemsetAsync",
              cudaMemsetAsync(space.faults, 0xFF, static_cast<std::size_t>(batch.positions) * sizeof(std::uint64_t),
                              machine.stream()));
  if (batch.contents == Contents::probabilities) check_rows(rows, sum_tolerance_of(batch), machine.stream());
  if (!has_float_rows(batch)) {
    convert_rows(rows, space.floats, machine.stream());
    rows = {stored(rows.converted(space.floats))};
  }
  const FixedRows fixed{rows, space.rests, space.run_notes};
  machine.each(NoteRuns{fixed});
  machine.each(RestOfRows{fixed});
  return fixed;
}

}  // namespace draftproof::gpu
