// Declares the calls that queue a verifier's kernel on buffers in device memory.
//
// On a StoredBatch the options choose the mapping, the memory beside the batch, and whether rows of probabilities are
// checked. Logits are always checked, since softmax reads them all.
#pragma once

#include <cstddef>

#include <draftproof/gpu/batch.hpp>
#include <draftproof/gpu/mapping.hpp>
#include <draftproof/gpu/stored_batch.hpp>
#include <draftproof/gpu/workspace.hpp>

struct CUstream_st;

namespace draftproof::gpu {

/// A cudaStream_t; null is the default stream.
using Stream = CUstream_st*;

/// Queues the verdicts of a batch in device memory on `stream` and returns. The kernel prepares the plan from a
/// position's own rows and count. A position that reaches a branch of probability zero gets no_token. Compiled for
/// every built-in verifier with Entry = float; for others include gpu/kernels/verify_batch.cuh in a CUDA source.
/// Throws: DeviceError if a CUDA call fails; std::invalid_argument if the mapping is not available; std::logic_error
/// if the verifier's info says that it has no device form.
template <class V, class Entry>
void verify_batch(const V& verifier, const Batch<Entry>& batch, Stream stream, Mapping mapping = Mapping::automatic);

struct VerifyOptions;
/// workspace_bytes of a verifier whose plan takes `plan_bytes` (workspace.hpp).
std::size_t workspace_bytes_of(const StoredBatch& batch, const VerifyOptions& options, std::size_t plan_bytes);

struct VerifyOptions {
  Mapping mapping = Mapping::automatic;
  bool check_probabilities = false;  ///< one more read of the rows: entries in [0, 2), and a sum of 1 within rounding
  void* workspace = nullptr;         ///< device memory, 256-byte aligned; null: memory from the stream's pool
  std::size_t workspace_bytes = 0;   ///< at least workspace_bytes()
};

/// Queues the verdicts of rows of any format, probabilities or logits, with the same kernels. A position whose rows
/// are not distributions gets no_token, and its word in `batch.faults` names row and token (row_fault.hpp). The
/// workspace is in use until the stream has passed this call.
/// Throws: as the call above; also std::invalid_argument if a size of the batch is out of range, or the workspace is
/// too small or not aligned.
template <class V>
void verify_batch(const V& verifier, const StoredBatch& batch, Stream stream, const VerifyOptions& options = {});

/// Returns bytes of workspace on the current device that suffice for the verifier on this batch, and on every batch
/// like it with fewer positions or other drafts. Reads no memory of the batch. If `faults` is null, the workspace
/// also holds the faults where they are needed.
/// Throws: std::invalid_argument if verify_batch throws it for this batch; DeviceError.
template <class V>
std::size_t workspace_bytes(const StoredBatch& batch, const VerifyOptions& options = {}) {
  return workspace_bytes_of(batch, options, plan_bytes<V>);
}

/// The part of verify_batch for clusters of `shares` blocks per position. Throws: DeviceError; std::logic_error.
template <class V>
void verify_clusters(const V& verifier, const StoredBatch& batch, int shares, Stream stream);

}  // namespace draftproof::gpu
