// What comes before a verifier's kernel on a stored batch, and is the same for all verifiers: the mapping, the
// workspace, checks and conversions.
#pragma once

#include <cstddef>

#include <draftproof/gpu/device/stream_memory.cuh>
#include <draftproof/gpu/teams/split_scratch.hpp>
#include <draftproof/gpu/rows/distinct_rows.hpp>
#include <draftproof/gpu/verify_batch.hpp>
#include <draftproof/gpu/workspace.hpp>

namespace draftproof::gpu {

/// Made and used in one call; queues what has to be done before on the stream.
class StoredLaunch {
 public:
  /// `device` is the current one, with what the verifier can have of it.
  StoredLaunch(const StoredBatch& batch, Stream stream, const VerifyOptions& options, const DeviceTraits& device);

  const Mapped& mapped() const { return mapped_; }
  /// For clusters: the batch with a place for faults.
  const StoredBatch& stored() const { return rows_.batch; }
  /// For all other mappings.
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
