// Declares the calls that queue a verifier's kernel on buffers in device memory.
//
// For a StoredBatch the options set the mapping of positions to threads, the workspace, and whether rows of
// probabilities are checked. Logits are always checked, since softmax reads them all.
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

/// Queues on `stream` the kernel that writes the verdicts of a batch in device memory, and returns without waiting.
/// The kernel makes a plan for each position. A position that reaches a branch of probability zero gets no_token.
/// Compiled for every built-in verifier with Entry = float; for others include gpu/kernels/verify_batch.cuh in a CUDA
/// source.
/// Throws: DeviceError if a CUDA call fails; std::invalid_argument if the mapping is not available; std::logic_error
/// if the verifier's info says that it has no device form.
template <class V, class Entry>
void verify_batch(const V& verifier, const Batch<Entry>& batch, Stream stream, Mapping mapping = Mapping::automatic);

struct VerifyOptions;
/// Returns workspace_bytes() for a verifier whose plan takes `plan_bytes` (workspace.hpp).
std::size_t workspace_bytes_of(const StoredBatch& batch, const VerifyOptions& options, std::size_t plan_bytes);

struct VerifyOptions {
  Mapping mapping = Mapping::automatic;
  bool check_probabilities = false;  ///< reads rows once more: entries in [0, 2), sum 1 within rounding
  void* workspace = nullptr;         ///< device memory, 256-byte aligned; null: memory from the stream's pool
  std::size_t workspace_bytes = 0;   ///< at least workspace_bytes()
};

/// Queues the verdicts of rows of any format, probabilities or logits, with the same kernels. A position whose rows
/// are not distributions gets no_token, and its entry of `batch.faults` encodes row and token (row_fault.hpp). The
/// workspace is in use until the queued kernels have run.
/// Throws: as the call above; also std::invalid_argument if a size of the batch is out of range, or the workspace is
/// too small or not aligned.
template <class V>
void verify_batch(const V& verifier, const StoredBatch& batch, Stream stream, const VerifyOptions& options = {});

/// Returns the bytes of workspace that the verifier needs on the current device for this batch; they also suffice for
/// the same batch with fewer positions or other drafts. Reads no memory of the batch. If `faults` is null and rows are
/// checked, the workspace also stores the faults.
/// Throws: std::invalid_argument if verify_batch throws it for this batch; DeviceError.
template <class V>
std::size_t workspace_bytes(const StoredBatch& batch, const VerifyOptions& options = {}) {
  return workspace_bytes_of(batch, options, plan_bytes<V>);
}

/// Implements verify_batch for the mapping with a thread-block cluster of `shares` blocks per position. Throws:
/// DeviceError; std::logic_error.
template <class V>
void verify_clusters(const V& verifier, const StoredBatch& batch, int shares, Stream stream);

}  // namespace draftproof::gpu
