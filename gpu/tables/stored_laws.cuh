// Rows of a stored batch made ready for tables: checked, as floats, with their notes.
//
//   faults     [B] words      if the batch has none
//   floats     rows           where they are not rows of float yet
//   notes      [rows]         and one for each run of them
#pragma once

#include <draftproof/gpu/tables/device_machine.cuh>
#include <draftproof/gpu/tables/fixed_rows.cuh>

namespace draftproof::gpu {

/// Where it lies.
struct LawSpace {
  LawSpace(Places& places, const StoredBatch& batch);

  std::uint64_t* faults;
  float* floats;  ///< null where rows stay where they are
  RowNote *notes, *run_notes;
};

/// Queues all of it. Positions with a fault have their words then.
FixedRows queue_laws(const DeviceMachine& machine, const StoredBatch& batch, const LawSpace& space);

}  // namespace draftproof::gpu
