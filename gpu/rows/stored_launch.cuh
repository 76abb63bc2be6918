// The preparation of a stored batch that is the same for all verifiers: mapping, workspace, checks and conversions.
#pragma once

#include <cstddef>

#include <draftproof/gpu/device/stream_memory.cuh>
#include <draftproof/gpu/rows/distinct_rows.hpp>
#include <draftproof/gpu/teams/split_scratch.hpp>
#include <draftproof/gpu/verify_batch.hpp>
#include <draftproof/gpu/workspace.hpp>

namespace draftproof::gpu {

/// An object of one call of verify_batch. Its constructor queues the checks and conversions on the stream.
class StoredLaunch {
 public:
  /// `device` has the properties of the current device, and whether the verifier makes a plan (mapping.hpp).
  /// Throws: as verify_batch on a StoredBatch does.
  StoredLaunch(const StoredBatch& batch, Stream stream, const VerifyOptions& options, const DeviceTraits& device);

  const Mapped& mapped() const { return mapped_; }
  /// The batch for mapping `cluster`, which reads the stored rows; `faults` is allocated if rows are checked.
  const StoredBatch& stored() const { return rows_.batch; }
  /// The batch for all mappings except `cluster`, with its rows converted to float.
  Batch<float> floats() const;
  int teams() const { return workspace_.teams; }
  SplitScratch* split_scratch() const { return reinterpret_cast<SplitScratch*>(memory_ + workspace_.split); }

 private:
  Mapped mapped_;
  Workspace workspace_;
  StreamMemory own_;
  char* memory_;
  DistinctRows rows_;
};

}  // namespace draftproof::gpu
