// Prepares rows of a stored batch for tables: checks them, converts them to floats and makes the notes of their runs
// (fixed_rows.cuh).
//
//   array        size         allocated
//   faults       [B]          if the batch has no array of faults
//   floats       rows         if the batch's rows are not float
//   rests        [rows]       always
//   run_notes    [runs]       always
#pragma once

#include <draftproof/gpu/tables/device_machine.cuh>
#include <draftproof/gpu/tables/fixed_rows.cuh>

namespace draftproof::gpu {

/// Memory in which rows are prepared (table above).
struct DistributionSpace {
  DistributionSpace(Places& places, const StoredBatch& batch);

  std::uint64_t* faults;
  float* floats;  ///< null if the batch's own rows are used
  RowRest* rests;
  RowNote* run_notes;
};

/// Queues the preparation, which records in `faults` each position whose rows have a fault. Throws: DeviceError.
FixedRows queue_distributions(const DeviceMachine& machine, const StoredBatch& batch, const DistributionSpace& space);

}  // namespace draftproof::gpu
