// Prepares rows of a stored batch for tables: checks them, converts them to floats and makes their notes.
//
//   faults     [B] words      if the batch has none
//   floats     rows           if they are not rows of float
//   rests      [rows]         and a note for each run of them
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

/// Queues the preparation. Positions with a fault have their words afterwards. Throws: DeviceError.
FixedRows queue_distributions(const DeviceMachine& machine, const StoredBatch& batch, const DistributionSpace& space);

}  // namespace draftproof::gpu
